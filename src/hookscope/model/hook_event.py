"""The event object that handlers get: one class for the library, the console and the worker process.

This file stands alone: the Python worker loads it by its path, perhaps under an older interpreter
(`python:` in `.hookscope/config.yaml`, 3.9 or newer). So it imports the standard library only and
keeps to the syntax of Python 3.9.
"""

from datetime import datetime, timezone
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional  # noqa: UP035  (3.9 syntax)

MEMBER_NAMES = "type, action, key, session_key, timestamp, messages and context"


class HookEvent:
    """One event, shared and changeable: every handler of the event gets this same object.

    A handler pushes texts to `messages` to answer the user, and may change `context` or put another
    list in place of `messages`; handlers after it see that. Source: guides 000 ("HookEvent
    Interface"), 001 ("Hook Event Types") and 004 (section 4).
    """

    __slots__ = ("action", "context", "messages", "session_key", "timestamp", "type")

    def __init__(
        self,
        type: str,  # noqa: A002  (the seeds' name)
        action: str,
        session_key: str = "",
        context: Optional[Dict[str, Any]] = None,  # noqa: UP006, UP045
        timestamp: Optional[datetime] = None,  # noqa: UP045
        messages: Optional[List[str]] = None,  # noqa: UP006, UP045
    ) -> None:
        self.type = type
        self.action = action
        self.session_key = session_key
        self.timestamp = timestamp if timestamp is not None else datetime.now(timezone.utc)  # noqa: UP017
        self.messages: List[str] = messages if messages is not None else []  # noqa: UP006
        self.context: Dict[str, Any] = context if context is not None else {}  # noqa: UP006

    @property
    def key(self) -> str:
        """`type:action`, or `type` alone where the event has no action."""
        return f"{self.type}:{self.action}" if self.action else self.type

    if not TYPE_CHECKING:  # whoever checks types is told by these of what is not there

        def __getattr__(self, name):
            """Asked for what is not there: the message says what is."""
            raise AttributeError(f"an event has no `{name}`; it has {MEMBER_NAMES}")

        def __getitem__(self, name):
            """Asked as though it were a dictionary."""
            raise TypeError(f"an event has members, no items: {MEMBER_NAMES}; write `event.type`")

    def __repr__(self) -> str:
        return f"<HookEvent {self.key} session={self.session_key!r} messages={len(self.messages)}>"


# What stands in for an attribute that a handler deleted.
_DEFAULTS: Dict[str, Callable[[], Any]] = {  # noqa: UP006
    "type": str,
    "action": str,
    "session_key": str,
    "timestamp": lambda: datetime.fromtimestamp(0, timezone.utc),  # noqa: UP017
    "messages": list,
    "context": dict,
}
_all_members = attrgetter(*_DEFAULTS)


def put_back(event: HookEvent) -> List[str]:  # noqa: UP006
    """Give the event, empty, what was deleted of it (`del event.context`). One sentence for each."""
    try:
        _all_members(event)  # most handlers delete nothing, and each of them is looked at
    except AttributeError:
        return _refill(event)
    return []


def _refill(event: HookEvent) -> List[str]:  # noqa: UP006
    deleted = [name for name in _DEFAULTS if not hasattr(event, name)]
    for name in deleted:
        setattr(event, name, _DEFAULTS[name]())
    return [f"the handler deleted event.{name}" for name in deleted]


def iso(moment: datetime) -> str:
    """A moment as the hosts print it: UTC, milliseconds, `Z`."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)  # noqa: UP017
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")  # noqa: UP017


def from_iso(text: str) -> datetime:
    """The moment that `iso` wrote. Raises ValueError for anything else."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def to_document(event: HookEvent) -> Dict[str, Any]:  # noqa: UP006
    """The event with the seeds' camelCase keys, for JSON and for the wire."""
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": _timestamp_text(event.timestamp),
        "messages": event.messages,
        "context": event.context,
    }


def _timestamp_text(value: object) -> str:
    """Whatever a handler put there, as text. Never raises."""
    try:
        return iso(value) if isinstance(value, datetime) else str(value)
    except BaseException:  # a hostile class, or a moment outside the calendar
        return ""
