"""What stays in memory: the console with its hooks on the screen, and the worker that has loaded them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.benchmarks import lanes
from tests.benchmarks.building import loop, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant
from tests.benchmarks.terminal import TRIVIAL, Painted, console

from hookscope.runtime.orphan_processes import resident_memory

HOOKS = 50


def resident(argv: Sequence[str], text: str) -> Callable[[], float]:
    """Bytes when this text has been painted."""

    def sample() -> float:
        with Painted(argv) as painted:
            painted.seconds_until(text)
            return resident_memory(painted.process.pid)

    return sample


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    if not resident_memory(1):
        yield [Variant(name, None, unit="bytes", missing="not known here") for name in NAMES]
        return
    workspace = write_hooks(folder / "workspace" / "hooks", HOOKS).parent
    calls = [lanes.hook(folder / "loaded", f"hook-{number:04}") for number in range(HOOKS)]
    with ExitStack() as stack:
        sampled = stack.enter_context(loop())
        ours = resident(console(str(workspace)), "hook-0009")

        async def loaded() -> float:
            lane = lanes.python(folder)
            try:
                await lanes.fire(lane, *calls)
                return sum(worker.memory for worker in lane.workers())
            finally:
                await lane.close()

        worker = sampled(loaded)
        samples = (resident(TRIVIAL, "trivial"), ours, worker, lambda: ours() + worker())
        yield [Variant(name, sample, unit="bytes") for name, sample in zip(NAMES, samples, strict=True)]


TEXTUAL, CONSOLE, WORKER, BOTH = NAMES = (
    "a Textual app of one word",
    f"the console, {HOOKS} hooks",
    f"a Python worker that has run {HOOKS} hooks",
    "both",
)
GROUP = Group(
    "memory",
    "Resident memory, without Node",
    opened,
    floor=TEXTUAL,
    targets=(Target(BOTH, 100 * 2**20),),
    rounds=5,
)
