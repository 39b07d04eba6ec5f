"""Every row of the fault matrix, for Node: each is told, and the handlers after it run."""

import os
import shutil
from functools import partial
from operator import attrgetter
from pathlib import Path

import pytest
from tests.faults.conftest import Fault, Trial
from tests.faults.node_faults import FAULTS, HEALTHY

from hookscope.runtime.executors import Node, find_node
from hookscope.runtime.process_executor import node_executor

NODE = find_node(shutil.which("node"))


@pytest.mark.skipif(not isinstance(NODE, Node), reason=f"no Node here: {getattr(NODE, 'sentence', '')}")
@pytest.mark.parametrize("fault", FAULTS, ids=attrgetter("name"))
async def test_fault_is_reported_and_the_next_handler_runs(
    fault: Fault, trial: Trial, tmp_path: Path
) -> None:
    assert isinstance(NODE, Node)
    env = {"PATH": os.environ["PATH"], "FAULTS_CWD": str(tmp_path)}
    make = partial(node_executor, env=env, cwd=tmp_path, node=NODE.path)
    await trial(lambda limits: make(limits=limits), fault, HEALTHY, "handler.mjs")
