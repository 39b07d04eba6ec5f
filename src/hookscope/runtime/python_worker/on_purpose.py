"""Faults that stand in a handler's place because somebody asked for them: what becomes of the rest?

A `fault` of the protocol is {"fault", "amount"}, see model/failure.py.
"""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Mapping  # noqa: UP035  (3.9: used in aliases)

Target = Callable[[Any], Any]

TEXT = "broken on purpose"
WRONG = 7  # where a text belongs


class BrokenOnPurpose(Exception):
    """What `exception` raises."""


def in_place_of(target: Target, fault: Mapping[str, Any]) -> Target:
    """The function to call for a handler that is broken so. Its errors begin where the handler begins."""
    make = _FAULTS[fault["fault"]]

    def broken(view: Any) -> Any:
        return make(target, view, fault["amount"])

    broken.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # as adapted functions have it
    return broken


def _exception(target: Target, view: Any, amount: float) -> Any:
    raise BrokenOnPurpose(TEXT)


def _hang(target: Target, view: Any, amount: float) -> Any:
    """As a request without a time limit does it: nothing else of this process goes on meanwhile."""
    while True:
        time.sleep(3600)


def _slow(target: Target, view: Any, amount: float) -> Any:
    """The handler itself; its answer comes later."""
    try:
        answer = target(view)
    except BaseException:
        time.sleep(amount)
        raise
    if hasattr(type(answer), "__await__"):
        return _later(answer, amount)
    time.sleep(amount)
    return answer


async def _later(answer: Any, amount: float) -> Any:
    import asyncio

    await asyncio.sleep(amount)
    return await answer


def _exit(target: Target, view: Any, amount: float) -> Any:
    os._exit(int(amount))


def _junk(target: Target, view: Any, amount: float) -> Any:
    """Wrong types everywhere a handler can write, and what JSON cannot hold."""
    circle: dict[str, Any] = {"number": float("nan"), "thing": object(), "bytes": b"\xff", "set": {1}}
    circle["itself"] = circle
    if isinstance(view, dict):  # two arguments, see model/payload.py
        event = view["event"]
        data = event.get("data") if isinstance(event, dict) else None
        members = None if view.get("frozen") else data if isinstance(data, dict) else event
    else:
        view.messages = [*view.messages, WRONG, None, {"text": TEXT}, [TEXT], object()]
        members = view.context
    if isinstance(members, dict):
        for name, value in list(members.items()):
            if isinstance(value, str):
                members[name] = WRONG
        members["junk"] = circle
    return {"block": "perhaps", "cancel": "perhaps", "params": WRONG, "content": [TEXT], "junk": circle}


_FAULTS = {"exception": _exception, "hang": _hang, "slow": _slow, "exit": _exit, "junk": _junk}
