"""The journal of a workspace, and its runs that can be shown and replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.app.snapshot import PastRun, Snapshot
from hookscope.model.host import Host
from hookscope.storage.state_files import state_folder

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench
    from hookscope.storage.journal.journal import Journal

JOURNAL = "journal.db"


class RunRecord:
    """Opens the journal for its workbench. Reading and writing it blocks and raises OSError."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._journal: Journal | None = None

    def journal(self, host: Host) -> Journal:
        """Return the journal of this workspace. This touches no disk."""
        from hookscope.app.runs.past_runs import workspace_key  # a scan needs no database

        workspace = workspace_key(host)
        if self._journal is None:
            from hookscope.storage.journal.journal import Journal

            file, kept = state_folder() / JOURNAL, self._bench.setup.retention
            self._journal = Journal(file, workspace, host.dialect.name, kept)
        self._journal = self._journal.for_host(host.dialect, host.settings).for_workspace(workspace)
        hidden = self._bench.redaction_of(host, settings=False)  # the journal knows the settings' own
        self._journal.mask_also(hidden.secrets, hidden.keys)
        return self._journal

    def runs(self, view: Snapshot, limit: int = 20) -> tuple[PastRun, ...]:
        """Return the last runs of this workspace, oldest first."""
        from hookscope.app.runs.past_runs import past_run

        stored = reversed(self.journal(view.host).recent(limit))
        return tuple(past for one in stored if (past := past_run(one, view.host)) is not None)

    def hidden_run_dialects(self, view: Snapshot, limit: int = 20) -> tuple[str, ...]:
        """Return the dialects of the runs that `runs` skips, one name per run: the dialect in force has no
        events of their kind.
        """
        from hookscope.storage.journal.records import run_of

        recent = (one for one in self.journal(view.host).recent(limit) if one.outcome != "running")
        kinds = ((one.dialect, run_of(one.document).event.kind) for one in recent)
        return tuple(dialect for dialect, kind in kinds if kind not in view.host.dialect.kinds)

    def run(self, view: Snapshot, number: int) -> PastRun:
        """Return that run of this workspace. Raises Refusal if it does not exist or cannot be fired."""
        from hookscope.app.runs.past_runs import past_run_numbered

        return past_run_numbered(number, self.journal(view.host).run(number), view.host)

    async def close(self) -> None:
        """Wait until all pending journal writes are done."""
        if self._journal is not None:
            import asyncio  # reading the journal needs no event loop

            journal, self._journal = self._journal, None
            await asyncio.to_thread(journal.close)
