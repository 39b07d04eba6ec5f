"""What `--dry` answers: who would run, and nothing has."""

from collections.abc import Sequence

from hookscope.cli import plan_tables
from hookscope.cli.answers import Answer
from hookscope.core.runs import Plan
from hookscope.workbench import run_documents


def only_planned(plans: Sequence[Plan], refused: Sequence[str]) -> Answer:
    """A plan for each event; `refused` has a sentence for each event that could not be planned."""
    documents = [run_documents.plan(plan) for plan in plans]
    return Answer(documents, "\n\n".join(map(plan_tables.plan, plans)), not refused, tuple(refused))
