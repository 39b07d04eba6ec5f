"""How long the command line takes to start and answer, beside a bare interpreter and two imports."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.building import HEADER, started, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

HOOKS = 10


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    workspace = write_hooks(folder / "workspace" / "hooks", HOOKS, header=HEADER).parent
    ours = (sys.executable, "-m", "hookscope")
    yield [
        Variant("a bare interpreter", started(sys.executable, "-c", "")),
        Variant("import click", started(sys.executable, "-c", "import click")),
        Variant("import textual.app", started(sys.executable, "-c", "import textual.app")),
        Variant("hookscope --help", started(*ours, "--help")),
        Variant("hookscope list --json", started(*ours, "--workspace", str(workspace), "list", "--json")),
    ]


GROUP = Group(
    "starting",
    f"Processes: start to end, {HOOKS} hooks",
    opened,
    floor="a bare interpreter",
    targets=(
        Target("hookscope --help", 2.5, "import click"),
        Target("hookscope list --json", 1.2, "import textual.app"),
    ),
)
