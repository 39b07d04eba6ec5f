"""What an editor is told where something cannot be, or nobody is called."""

from __future__ import annotations

from hookscope.adapter.framing import Message
from hookscope.core.runs import Plan
from hookscope.core.text import as_typed, one_line, printable
from hookscope.workbench import View
from hookscope.workbench.left_out import could_not, not_allowed, waiting_for_trust


def failure(sentence: str) -> Message:
    """What a response has that says no."""
    sentence = printable(sentence)
    # As a variable, since braces in a format are names of those.
    error = {"id": 1, "format": "{_sentence}", "variables": {"_sentence": sentence}, "showUser": True}
    return {"message": sentence, "body": {"error": error}}


def left_out(view: View, plan: Plan, only: str | None) -> list[str]:
    """A sentence for each that ought to run and does not."""
    waiting = not_allowed(waiting_for_trust(view, plan), view.host.surroundings)
    return [*waiting, *could_not(view, plan, only=only)]


def nobody(plan: Plan) -> str:
    """Why nothing is called: the reasons of those that listen."""
    key = one_line(plan.event.key)
    listening = [f"{item.name}: {item.reason}" for item in plan.not_run if item.listens]
    reasons = f" {'; '.join(map(one_line, listening[:5]))}." if listening else ""
    return f"Nothing runs at {key}.{reasons} `hookscope plan {as_typed(key)}` says of each hook why not."
