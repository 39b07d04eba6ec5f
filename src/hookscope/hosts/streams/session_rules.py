"""What one version of a host makes of a session: which fields its events have, and what failures come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from hookscope.model.hook import LogLine
from hookscope.values import dataclass

if TYPE_CHECKING:  # words of a session that is played: a look plays none
    from hookscope.hosts.streams.session_messages import SessionAgent, ToolResult

IMMEDIATE_SECONDS = 0.02  # seconds: results that come within it of each other count as come together


class ThrowEffect(Enum):
    """What a hook's throw comes to."""

    LOGGED = "logged"  # a line in the log; the turn goes on (eve 11 and 12, 0.80.1)
    REPEATS = "repeats"  # the step is run again, and the session fails in the end (eve 11, 0.18.1)
    SURFACES = "surfaces"  # the turn fails, and in the cascade the session (seed 002)


class Delegation(Enum):
    """How a subagent is called."""

    AWAITED = "awaited"  # the step waits for it (eve 19, 0.18.1)
    TASK = "task"  # the call is answered with a receipt, and the turn waits at its end (eve 19, 0.80.1)


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The choices of one version. Texts are the host's, as they stand in its events."""

    sentence: str  # the rule in force, for people
    runtime: Callable[[SessionAgent], Mapping[str, Any]]  # of session.started
    throw: ThrowEffect
    delegation: Delegation
    hook_failed: str = ""  # the code of a turn that fails of a hook
    cancels: Callable[[str], bool] = lambda kind: False  # event types on which `ctx.cancel()` works
    reopens: bool = False  # does a message to a session that is over begin another
    logged: Callable[[str, Mapping[str, Any]], LogLine | None] = lambda kind, data: (
        None
    )  # beside the hooks' own
    attempts: int = 4  # how often a step is run where a throw repeats it
    repeated: str = ""  # {error}
    model: str = ""  # the scripted model's id
    workflow: str = ""  # of subagent.called
    stream_path: str = ""  # {session}, of agent.started
    delegated: str = ""  # what a subagent is told to do, before its caller's message; empty: nothing
    receipt: str = ""  # {task} {name}, what the model gets for a call that is a task
    task_failed: str = ""  # {error} {name}
    no_answer: str = ""  # the model gave none, though it was asked again
    no_answer_name: str = ""
    empty_fails: bool = False  # does that fail a session of the user's own, or only a subagent's
    error_names: bool = False  # do failed results carry the kind of error
    labels: bool = False  # do calls of subagents carry a label
    parts: bool = False  # of message.received
    so_far: bool = False  # of message.appended
    names_model: bool = False  # step.started
    tells_terminal: bool = False  # turn.failed
    tells_token: bool = False  # session.waiting
    wants_message: bool = False  # is a subagent's call without a text refused
    output_fails: bool = False  # does an output with `code` and `message` count as a failure
    tells_calls: bool = False  # do hooks hear subagent.called
    failures_first: bool = False  # of tools that end at once, are failed ones told first

    def first_message(self, name: str, description: str, message: str) -> str:
        """The message that a subagent's session begins with: the host's words, then its caller's."""
        if not self.delegated:
            return message
        about = [f"Description: {description}"] if description.strip() else []
        return "\n".join(
            [f'You are the subagent "{name}".', *about, "", self.delegated, "", "Caller message:", message]
        )

    def in_order_of_ending(self, results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
        """Results as the stream tells them: those that end together in order of the calls.

        In 0.18.1 failed ones stand before others then (recorded with two to eight tools).
        """
        batches: list[list[ToolResult]] = []
        for result in sorted(results, key=lambda result: result.after):
            if batches and result.after - batches[-1][-1].after <= IMMEDIATE_SECONDS:
                batches[-1].append(result)
            else:
                batches.append([result])
        order = {result.id: place for place, result in enumerate(results)}

        def place(result: ToolResult) -> tuple[bool, int]:
            return self.failures_first and result.failure is None, order[result.id]

        return tuple(result for batch in batches for result in sorted(batch, key=place))
