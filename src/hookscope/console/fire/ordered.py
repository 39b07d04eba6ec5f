"""What several fires in other orders have told: who disturbs whom, as a report."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from hookscope.console.marks import MUTED
from hookscope.core.orders.facts import Kind
from hookscope.core.orders.findings import Findings
from hookscope.core.orders.words import KEPT, evidence, left_over, sentences, summary, unsteady

ANEW = KEPT.format("on copies")


def report(told: Findings, *, copies: bool) -> Content:
    """The answer, then each finding with the two runs that show it. Names and values are safe to show."""
    return Content("\n").join(_lines(told, copies))


def _lines(told: Findings, copies: bool) -> Iterator[Content]:
    yield Content.styled(summary(told), "$text-warning" if told.matters else "$text-success")
    yield Content.styled(f"registered: {', '.join(told.names)}", MUTED)
    for one in sentences(told):
        worst = one.finding.subject.kind is Kind.ENDED
        yield Content()
        yield Content.styled(one.text, "bold $text-error" if worst else "bold $text-warning")
        yield from (Content.styled(f"  {line}", MUTED) for line in evidence(one.finding, told.names))
    for text in left_over(told):
        yield Content()
        yield Content.styled(text, "$text-warning")
    if told.unsteady:
        yield Content()
        differing = ", ".join(unsteady(told))
        yield Content.styled(
            f"Different from run to run in one order, and so not judged: {differing}.", MUTED
        )
    if not copies:
        yield Content()
        yield Content.styled(ANEW, MUTED)
