"""The session rules of one host version: the fields of its events, and the effects of failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from hookscope.model.hook import LogLine
from hookscope.values import dataclass

if TYPE_CHECKING:  # only needed by a running session, not by a scan
    from hookscope.hosts.streams.session_messages import SessionAgent, ToolResult

IMMEDIATE_SECONDS = 0.02  # seconds: results closer together than this count as simultaneous


class ThrowEffect(Enum):
    """The effect of an error that a hook throws."""

    LOGGED = "logged"  # a line in the log; the turn continues (eve 11 and 12, 0.80.1)
    REPEATS = "repeats"  # the step is repeated, then the session fails (eve 11, 0.18.1)
    SURFACES = "surfaces"  # the turn fails, or in the failure cascade the session (Eve's guide)


class Delegation(Enum):
    """How a subagent is called."""

    AWAITED = "awaited"  # the step waits for it (eve 19, 0.18.1)
    TASK = "task"  # the call returns a receipt, and the turn waits at its end (eve 19, 0.80.1)


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The rules of sessions in one host version. The texts are those of the host's own events."""

    summary: str  # the rule as a sentence for people
    runtime_data: Callable[[SessionAgent], Mapping[str, Any]]  # `runtime` of session.started
    throw_effect: ThrowEffect
    delegation: Delegation
    hook_failed_code: str = ""  # the error code of a turn that a hook fails
    is_cancellable: Callable[[str], bool] = lambda kind: False  # event types on which `ctx.cancel()` works
    reopens_finished: bool = False  # whether a message to a finished session starts another
    failure_log: Callable[[str, Mapping[str, Any]], LogLine | None] = lambda kind, data: (
        None
    )  # beside hooks' logs
    max_attempts: int = 4  # how often a step is run if a throw repeats it
    attempts_failed_text: str = ""  # {error}
    model_id: str = ""  # the scripted model's id
    workflow_id: str = ""  # `workflowId` of subagent.called
    stream_path: str = ""  # {session}, of agent.started
    delegation_prompt: str = ""  # the prompt of a subagent before its caller's message; empty: none
    receipt: str = ""  # {task} {name}, the result of a call that starts a task
    task_failed: str = ""  # {error} {name}
    no_answer_text: str = ""  # the model's reply was empty twice
    no_answer_name: str = ""
    empty_fails: bool = False  # whether two empty replies fail any session, not only a subagent's
    error_names: bool = False  # whether failed results have the class of the error
    labels_calls: bool = False  # whether calls of subagents have a label
    includes_parts: bool = False  # whether message.received has `parts`
    includes_so_far: bool = False  # whether message.appended has `messageSoFar`
    includes_model: bool = False  # whether step.started has `modelId`
    includes_terminal: bool = False  # whether turn.failed has `terminal`
    includes_token: bool = False  # whether session.waiting has `continuationToken`
    requires_message: bool = False  # whether a subagent's call without a message is refused
    output_can_fail: bool = False  # whether an output with `code` and `message` is a failure
    shows_calls_to_hooks: bool = False  # whether hooks receive subagent.called
    failures_first: bool = False  # of tools that end together, whether failed ones come first

    def first_message(self, name: str, description: str, message: str) -> str:
        """Return the first message of a subagent's session: the host's prompt, then its caller's message."""
        if not self.delegation_prompt:
            return message
        about = [f"Description: {description}"] if description.strip() else []
        return "\n".join(
            [
                f'You are the subagent "{name}".',
                *about,
                "",
                self.delegation_prompt,
                "",
                "Caller message:",
                message,
            ]
        )

    def by_completion(self, results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
        """Return results in stream order; results that end together are in the order of the calls.

        In 0.18.1 the failed ones among these come first (recorded with two to eight tools).
        """
        batches: list[list[ToolResult]] = []
        for result in sorted(results, key=lambda result: result.ended_after):
            if batches and result.ended_after - batches[-1][-1].ended_after <= IMMEDIATE_SECONDS:
                batches[-1].append(result)
            else:
                batches.append([result])
        order = {result.id: place for place, result in enumerate(results)}

        def place(result: ToolResult) -> tuple[bool, int]:
            return self.failures_first and result.failure is None, order[result.id]

        return tuple(result for batch in batches for result in sorted(batch, key=place))
