"""How each call ended, and all that is said with it: what was printed, what came late, what escaped."""

from __future__ import annotations

from dataclasses import replace

from hookscope.core.runs import Result
from hookscope.runtime.course import AT_REST, Course, seconds_of
from hookscope.runtime.deadlines import stopped
from hookscope.runtime.dumps import frames_in, has_dump
from hookscope.runtime.limits import Limits
from hookscope.runtime.order import Order
from hookscope.runtime.peer import NOTHING, Late, Peer, Printed
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.shared import Shared
from hookscope.runtime.traces import Traces, late_in_words


class Reports:
    """Of one seat: makes a Result of what is known of an end, and hands it to its course."""

    def __init__(self, shared: Shared, traces: Traces) -> None:
        self.restless: Order | None = None  # of whose handler something still runs in the present worker
        self._shared = shared
        self._traces = traces

    def take(
        self, worker: Peer, course: Course, order: Order, message: Message, asked: Limits | None
    ) -> None:
        """Report the result in this message. `asked`: it came because a limit of these was over."""
        if asked is None and message.keys() <= AT_REST:  # nearly always
            took = seconds_of(message, "took", 0.0)
            if not self._has_more(worker, course, took):
                course.rested(took, message.get("returned"))
                return
        self._shared.learn(order.code, message)
        result = course.answered(message)
        if asked is not None:
            result = stopped(result, asked)
        shared, printed = message.get("shared") is True, message.get("printed") is True
        self.ended(worker, course, result, shared=shared, answered=True, printed=printed)
        if message.get("left"):
            self._traces.left(result.call.name, str(message["left"]))
            self._shared.ledger.leaves_running(order.code, order.name)
            self.restless = order

    def _has_more(self, worker: Peer, course: Course, took: float) -> bool:
        """Is there more to be said with the end of a handler that did nothing but return."""
        traces = self._traces
        traces.last = course.left[0].name
        traces.nothing_left()
        return bool(
            self._shared.news
            or course.notes
            or course.company
            or worker.has_late
            or traces.may_have_escaped(len(course.left) > 1, took)
        )

    def ended(
        self,
        worker: Peer,
        course: Course,
        result: Result,
        *,
        shared: bool = True,
        answered: bool = False,
        printed: bool = True,
        blamed: bool = True,
    ) -> None:
        """Report an end, with what was printed up to here and what happened before.

        `shared`: what earlier handlers left running may have printed beside this one. `answered`: the
        worker goes on meanwhile, and what it prints is no longer of this one. `printed`: it may have.
        """
        output = worker.printed(of_one=answered) if printed else NOTHING
        if not shared:
            self._traces.nothing_left()
        traces, late = self._traces, worker.late()
        escaped = traces.escapes(worker, len(course.left) > 1) if answered else traces.ended_with_it()
        traces.last = result.call.name
        if (
            output is NOTHING
            and result.status == "ok"
            and not (result.notes or course.notes or course.spoilt or late or escaped or self._shared.news)
        ):  # nearly always
            course.finish(result)
            return
        course.finish(self._with_all(course, result, output, late, escaped, blamed))

    def _with_all(
        self,
        course: Course,
        result: Result,
        output: Printed,
        late: tuple[Late, ...],
        escaped: tuple[str, ...],
        blamed: bool,
    ) -> Result:
        """The result with what was printed and all that is to be said; said once, it is no news any more."""
        has_printed = bool(output.stdout or output.stderr)
        notes = (
            *self._shared.news,
            *course.notes,
            *result.notes,
            *(" ".join(late_in_words(one)) for one in late),
            *escaped,
            *(self._traces.suspects() if result.error is not None else ()),
            *(self._traces.others() if has_printed else ()),
            *((course.company,) if course.company and has_printed else ()),
            *output.notes,
        )
        self._shared.news.clear()
        course.notes = []
        if result.error is not None and not result.error.frames and has_dump(output.stderr):
            result = replace(result, error=replace(result.error, frames=frames_in(output.stderr)))
        blamed = blamed and not self._traces.has_left(but=result.call.name)  # it may be their doing
        if course.spoilt or (blamed and result.status in ("timeout", "crashed")):
            assert course.order is not None  # only `cancel` begins calls that nobody has ordered
            notes = (*notes, *self.blame(course.order))
        return replace(result, stdout=output.stdout, stderr=output.stderr, notes=notes)

    def blame(self, order: Order) -> tuple[str, ...]:
        """Note a fault. What it means for the hook, in words, where that is new."""
        if order.call is not None and order.call.breakage is not None:  # it is ours
            return ()
        if self._shared.ledger.fault(order.code, order.name):
            return ("this was its third fault within five minutes: from now on only a fire by hand runs it",)
        return ()
