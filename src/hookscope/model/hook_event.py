"""The event object that handlers receive, in the library, the console and the worker process.

The Python worker loads this file by its path, possibly under an older interpreter (`python:` in
`.hookscope/config.yaml`, 3.9 or newer). So it imports only the standard library and uses only the
syntax of Python 3.9.
"""

from datetime import datetime, timezone
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional  # noqa: UP035  (3.9 syntax)

MEMBER_NAMES = "type, action, key, session_key, timestamp, messages and context"


class HookEvent:
    """One mutable event that all of its handlers share.

    A handler appends to `messages` to answer the user. It may change `context` or replace
    `messages`; later handlers see that. Source: guides 000 ("HookEvent Interface"), 001 ("Hook
    Event Types") and 004 (section 4).
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
        """`type:action`, or `type` for an event without an action."""
        return f"{self.type}:{self.action}" if self.action else self.type

    if not TYPE_CHECKING:  # type checkers report missing members themselves

        def __getattr__(self, name):
            """Raise AttributeError with the names of the members that exist."""
            raise AttributeError(f"an event has no `{name}`; it has {MEMBER_NAMES}")

        def __getitem__(self, name):
            """Raise TypeError: an event is not a dictionary."""
            raise TypeError(f"an event has members, no items: {MEMBER_NAMES}; write `event.type`")

    def __repr__(self) -> str:
        return f"<HookEvent {self.key} session={self.session_key!r} messages={len(self.messages)}>"


# Replacements for members that a handler deleted.
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
    """Restore deleted members (`del event.context`) as empty values; return a sentence for each."""
    try:
        _all_members(event)  # the fast path: most handlers delete nothing
    except AttributeError:
        return _refill(event)
    return []


def _refill(event: HookEvent) -> List[str]:  # noqa: UP006
    deleted = [name for name in _DEFAULTS if not hasattr(event, name)]
    for name in deleted:
        setattr(event, name, _DEFAULTS[name]())
    return [f"the handler deleted event.{name}" for name in deleted]


def iso(moment: datetime) -> str:
    """Return a time as the hosts print it: UTC, milliseconds, `Z`."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)  # noqa: UP017
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")  # noqa: UP017


def from_iso(text: str) -> datetime:
    """Return the time that `iso` printed. Raises ValueError for any other text."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def to_document(event: HookEvent) -> Dict[str, Any]:  # noqa: UP006
    """Return the event as JSON values with the guides' camelCase keys."""
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": _timestamp_text(event.timestamp),
        "messages": event.messages,
        "context": event.context,
    }


def _timestamp_text(value: object) -> str:
    """Return any timestamp as text, whatever a handler assigned. Never raises."""
    try:
        return iso(value) if isinstance(value, datetime) else str(value)
    except BaseException:  # a hostile class, or a time out of range
        return ""
