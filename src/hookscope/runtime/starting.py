"""Starting a worker, or saying why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from hookscope.core.failure import Failure
from hookscope.core.runs import Registration, Result
from hookscope.runtime.clock import since_start
from hookscope.runtime.deadlines import Overran, limited
from hookscope.runtime.limits import Limits
from hookscope.runtime.peer import NotStarted, Peer, WorkerLost
from hookscope.runtime.waiting import to_the_end

SAID = 200  # characters of what it printed before it ended


async def started(make: Callable[[], Peer], limits: Limits) -> Peer:
    """A new worker that is ready. Raises NotStarted; then nothing of it is left."""
    worker = make()
    try:
        async with limited(limits, "spawn"):
            await worker.start()
    except Overran as late:
        await to_the_end(worker.end())
        raise NotStarted(late.failure) from None
    except WorkerLost as lost:
        await to_the_end(worker.end())
        said = worker.printed().stderr.strip()
        text = f"{lost.text} before it was ready" + (f": {said[-SAID:]}" if said else "")
        raise NotStarted(Failure("Crashed", text, phase="spawn")) from None
    except BaseException:
        await to_the_end(worker.end())
        raise
    return worker


def not_started(calls: Sequence[Registration], missing: NotStarted) -> list[Result]:
    """The results of calls for which there is no worker."""
    return [Result(call, "crashed", since_start(perf_counter()), error=missing.failure) for call in calls]
