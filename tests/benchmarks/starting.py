"""How long the command line takes to start and answer, beside a bare interpreter and two imports."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.building import HEADER, TYPESCRIPT, cpu_seconds, started, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

HOOKS = 10


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    workspace = write_hooks(folder / "workspace" / "hooks", HOOKS, header=HEADER).parent
    in_typescript = write_hooks(
        folder / "typescript" / "hooks", HOOKS, header=HEADER, handler=TYPESCRIPT, file="handler.ts"
    ).parent
    ours = (sys.executable, "-m", "hookscope")
    listing = ("list", "--json")
    yield [
        Variant("a bare interpreter", started(sys.executable, "-c", "")),
        Variant("import click", started(sys.executable, "-c", "import click")),
        Variant("import textual.app", started(sys.executable, "-c", "import textual.app")),
        Variant("hookscope --help", started(*ours, "--help")),
        Variant("hookscope list --json", started(*ours, "--workspace", str(workspace), *listing)),
        Variant(IMPORTS, cpu_seconds(sys.executable, "-c", "import click, yaml")),
        Variant(LIST_PYTHON, cpu_seconds(*ours, "--workspace", str(workspace), *listing)),
        Variant(LIST_TYPESCRIPT, cpu_seconds(*ours, "--workspace", str(in_typescript), *listing)),
    ]


IMPORTS = "CPU of import click, yaml"
LIST_PYTHON = "CPU of hookscope list --json"
LIST_TYPESCRIPT = "CPU of the same, hooks in TypeScript"
GROUP = Group(
    "starting",
    f"Processes: start to end, {HOOKS} hooks",
    opened,
    floor="a bare interpreter",
    targets=(
        Target("hookscope --help", 2.5, "import click"),
        Target("hookscope list --json", 1.2, "import textual.app"),
        Target(LIST_PYTHON, 2.6, IMPORTS),
        Target(LIST_TYPESCRIPT, 2.6, IMPORTS),
    ),
)
