"""From the start of the process to the first paint, beside a Textual app that shows one word."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.building import write_hooks
from tests.benchmarks.measuring import Group, Target, Variant
from tests.benchmarks.terminal import TRIVIAL, Painted, console

HOOKS = 10


def until(argv: Sequence[str], text: str) -> Callable[[], float]:
    def sample() -> float:
        with Painted(argv) as painted:
            return painted.seconds_until(text)

    return sample


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    workspace = write_hooks(folder / "workspace" / "hooks", HOOKS).parent
    ours = console(str(workspace))
    yield [
        Variant("a Textual app of one word", until(TRIVIAL, "trivial")),
        Variant("the console's first paint", until(ours, "hookscope")),
        Variant("the console's rows", until(ours, f"hook-{HOOKS - 1:04}")),
    ]


GROUP = Group(
    "painting",
    f"The console, {HOOKS} hooks: start to paint",
    opened,
    floor="a Textual app of one word",
    targets=(Target("the console's first paint", 1.5, "a Textual app of one word"),),
)
