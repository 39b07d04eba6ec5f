"""The answer tab: what the handler returned or asked for, and what that made of the event's answer."""

from textual.content import Content

from hookscope.console.fire.draft import as_json
from hookscope.console.fire.tabs.context import brief
from hookscope.console.fire.tabs.shown import Shown, foreign, muted, stack
from hookscope.console.marks import word
from hookscope.core.answers import MergeStep, merge_steps
from hookscope.core.runs import Result


def is_one(result: Result) -> bool:
    """Did it say anything to its host?"""
    return result.returned is not None or bool(result.asked)


def text(shown: Shown) -> Content:
    """Of a plugin's event what the answer changed, and what is merged now; then the answer itself."""
    result = shown.row.result
    if result is None:
        return muted("Its answer is shown when the handler has ended.")
    said = _said(shown, result)
    if observes(shown):
        ignored = f"{shown.product} ignores what handlers of this event return: they observe."
        return stack([*said, muted(ignored)])
    step = step_of(shown)
    return stack([*(_merged(step) if step is not None else []), *said])


def observes(shown: Shown) -> bool:
    """Are the answers to this event nobody's concern."""
    event = shown.row.follow_up or shown.sheet.plan.event
    known = shown.host.dialect.catalogue().find(event.key)
    return event.kind == "stream" or known is None or known.policy in ("", "observe")


def _said(shown: Shown, result: Result) -> list[Content]:
    if not is_one(result):
        return [muted("It answered nothing.")]
    asked = [Content(f"asked: {', '.join(result.asked)}")] if result.asked else []
    if result.returned is None:
        return asked
    return [*asked, muted("it answered"), foreign(as_json(result.returned), shown.limit)]


def step_of(shown: Shown) -> MergeStep | None:
    """This call's step on the way to the merged answer; None where it was not taken into account."""
    plan = shown.sheet.plan
    done = {row.call: row.result for row in shown.sheet.rows if row.result and row.follow_up is None}
    results = [done[call] for call in plan.calls if call in done]
    event = plan.event if shown.sheet.run is None else shown.sheet.run.event
    steps = merge_steps(plan.policy, event, results)
    paired = zip(results, steps, strict=False)
    return next((step for result, step in paired if result is shown.row.result), None)


def _merged(step: MergeStep) -> list[Content]:
    lines = []
    if not step.changed:
        lines.append(muted("The merged answer is as before."))
    for name, value in step.changed.items():
        lines.append(Content.styled("→ ", "$text-warning") + Content(f"{word(name)} = {brief(value)}"))
    if step.answer:
        lines.append(muted(f"merged so far: {brief(dict(step.answer))}"))
    if step.stopped:
        lines.append(Content.styled("⊘ it ends here: later handlers are not asked", "$text-warning"))
    return lines
