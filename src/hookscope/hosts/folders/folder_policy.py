"""The policy of folder hooks: handlers share one mutable event; an error stops no other handler."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.hook_event import HookEvent
from hookscope.model.payload import independent_copy
from hookscope.model.run import Ending, Event, Fold, Next, Registration, Result
from hookscope.model.text import one_line
from hookscope.values import dataclass

FailureText = Callable[[Failure], str]  # error → the text that the host logs


def own_error_text(failure: Failure) -> str:
    """Return the message of the error itself, without its causes (milady 13)."""
    return failure.own_text


def error_chain_text(failure: Failure) -> str:
    """Return the messages of the error and its causes, as `outer | inner cause` (disp-02)."""
    return " | ".join(failure.chain) or failure.message


@dataclass(frozen=True, slots=True)
class SharedEvent:
    """Handlers share one event; a failure is logged in the host's words, and the remaining handlers run.

    Source: guides of Eliza ("Error Handling"), Milady ("Hook Registry"), OpenClaw (sections 4 and 10).
    """

    error_text: str  # the host's line: {key} that matched, {event} as fired, {message}
    event_key: str  # as fired: handlers may change the event's type and action
    batched: bool = True
    failure_summary: str | None = None  # the host's last line if handlers failed: {count}
    failure_text: FailureText = own_error_text
    reads_changes: bool = True  # False: the host does not wait for the handlers

    def start(self, event: Event) -> Fold:
        return Fold(event.live if event.live is not None else mutable_copy(event))

    def view(self, fold: Fold, call: Registration) -> Any:
        return fold.event

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        if result.error is None:
            return fold, Next.GO
        message = self.failure_text(result.error)
        text = self.error_text.format(key=result.call.key, event=self.event_key, message=message)
        return replace(fold, log=(*fold.log, LogLine("error", text))), Next.GO

    def ignored_change_notes(self, result: Result) -> tuple[str, ...]:
        """Return a sentence for each change to the context, if the host ignores such changes."""
        if self.reads_changes:
            return ()
        names = dict.fromkeys(_changed_name(str(step.get("path"))) for step in result.patch)
        why = f"the host neither waits for handlers of {self.event_key} nor reads their changes"
        changes = (f"the handler's change to context.{one_line(name, 60)}" for name in names if name)
        return tuple(f"{change} is ignored: {why}" for change in changes)

    def finish(self, fold: Fold) -> Ending:
        count = len(fold.log)  # one line per failure
        if not count or self.failure_summary is None:
            return Ending(log=fold.log)
        return Ending(log=(*fold.log, LogLine("warn", self.failure_summary.format(count=count))))


def _changed_name(path: str) -> str:
    """Return the context member that a patch step at `path` changes; empty for other parts of the event."""
    part, _, rest = path.lstrip("/").partition("/")
    return rest.partition("/")[0].replace("~1", "/").replace("~0", "~") if part == "context" else ""


def mutable_copy(event: Event) -> HookEvent:
    """Return a new event object that handlers may change without changing the fired event."""
    return HookEvent(
        event.type,
        event.action,
        event.session_key,
        independent_copy(event.context),
        event.timestamp,
        list(event.messages),
    )
