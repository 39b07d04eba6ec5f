"""A worker for each test, which ends with it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.runtime.node_worker.talk import Talk


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    """A worker that has loaded nothing yet."""
    made = Talk(tmp_path / "agent")
    made.root.mkdir()
    await made.worker.start()
    try:
        yield made
    finally:
        await made.worker.end()
