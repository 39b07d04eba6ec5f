"""The record of a workspace: its journal, and the runs of it that can be shown and fired again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.core.dialect import Host
from hookscope.workbench.state_files import state_folder
from hookscope.workbench.view import PastRun, View

if TYPE_CHECKING:
    from hookscope.journal import Journal
    from hookscope.workbench.bench import Workbench

JOURNAL = "journal.db"


class RunRecord:
    """Opens the journal for its workbench. All that reads or writes it blocks, and raises OSError."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._journal: Journal | None = None

    def journal(self, host: Host) -> Journal:
        """The record of this workspace's runs. Making it touches no disk."""
        from hookscope.workbench.past import place_of_record  # here, as below: a look needs no database

        workspace = place_of_record(host)
        if self._journal is None:
            from hookscope.journal import Journal

            file, kept = state_folder() / JOURNAL, self._bench.setup.retention
            self._journal = Journal(file, workspace, host.dialect.name, kept)
        self._journal = self._journal.under(host.dialect, host.settings).of(workspace)
        hidden = self._bench.redaction_of(host, settings=False)  # the journal knows the settings' own
        self._journal.hide(hidden.secrets, hidden.keys)
        return self._journal

    def runs(self, view: View, limit: int = 20) -> tuple[PastRun, ...]:
        """The last runs of this workspace, oldest first."""
        from hookscope.workbench.past import past_of

        stored = reversed(self.journal(view.host).recent(limit))
        return tuple(past for one in stored if (past := past_of(one, view.host)) is not None)

    def left_out(self, view: View, limit: int = 20) -> tuple[str, ...]:
        """The dialects of the runs that `runs` leaves out, a name a run: the dialect in force has no events
        of their kind."""
        from hookscope.journal import run_of

        recent = (one for one in self.journal(view.host).recent(limit) if one.outcome != "running")
        kinds = ((one.dialect, run_of(one.document).event.kind) for one in recent)
        return tuple(dialect for dialect, kind in kinds if kind not in view.host.dialect.kinds)

    def run(self, view: View, number: int) -> PastRun:
        """That run of this workspace. Raises Refusal where there is none, or it cannot be fired."""
        from hookscope.workbench.past import past_named

        return past_named(number, self.journal(view.host).run(number), view.host)

    async def close(self) -> None:
        """Wait until everything that waits for the journal is written."""
        if self._journal is not None:
            import asyncio  # here: who looks into the journal runs nothing

            journal, self._journal = self._journal, None
            await asyncio.to_thread(journal.close)
