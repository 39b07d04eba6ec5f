"""A handler that does nothing, run before anybody waits: its path through the worker is warm then."""

from __future__ import annotations

import os

NAME = "rehearsal"  # of its content
_PATH = os.path.abspath(__file__)
_CODE = {"path": _PATH, "export": "handler", "root": os.path.dirname(_PATH), "name": NAME}
_EVENT = {
    "type": "",
    "action": "",
    "sessionKey": "",
    "timestamp": "1970-01-01T00:00:00.000Z",
    "messages": [],
    "context": {},
}
# As the host would say it.
MESSAGE = {
    "id": "",
    "fence": "",
    "know": [[0, {"who": "", "code": _CODE, "env": {}}]],
    "calls": [0],
    "view": _EVENT,
    "hook": True,
}


def handler(event: object) -> None:
    """Return."""
