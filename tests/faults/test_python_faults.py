"""Every row of the fault matrix, for Python: each is told, and the handlers after it run."""

from functools import partial
from operator import attrgetter
from pathlib import Path

import pytest
from tests.faults.conftest import Fault, Trial
from tests.faults.python_faults import FAULTS, HEALTHY

from hookscope.runtime.process_executor import python_executor


@pytest.mark.parametrize("fault", FAULTS, ids=attrgetter("name"))
async def test_fault_is_reported_and_the_next_handler_runs(
    fault: Fault, trial: Trial, tmp_path: Path
) -> None:
    make = partial(python_executor, env={"PATH": "/usr/bin:/bin", "FAULTS_CWD": str(tmp_path)}, cwd=tmp_path)
    await trial(lambda limits: make(limits=limits), fault, HEALTHY, "handler.py")
