"""What the list of packs shows: how each stands on disk, what it uses, and what its source said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.console.packs.errand import Failure
from hookscope.console.posting import said

if TYPE_CHECKING:
    from hookscope.console.packs.rows import Inside, PackRow
    from hookscope.console.packs.screen import PacksScreen
    from hookscope.console.shell import Shell
    from hookscope.workbench import View
    from hookscope.workbench.packs.planned import Planned, UpToDate

ROOM = "packs"


class PacksReading:
    """Reads in a thread; an answer that another has overtaken is dropped."""

    def __init__(
        self,
        screen: Shell,
        shown: Callable[[], PacksScreen | None],
        say: Callable[[str], object],
        wrong: Callable[[str], object],
    ) -> None:
        """`shown`: the list, as long as it stands; `say` and `wrong`: the lines below it."""
        self.screen = screen
        self._shown = shown
        self._say = say
        self._wrong = wrong
        self.fresh = ""  # the pack that was just installed: it is chosen
        self._newer: dict[tuple[str, str], str] = {}  # by id and integrity, what a source said
        self._asked = 0  # how often the packs were read

    def refresh(self) -> None:
        """Read all packs again."""
        bench = self.screen.bridge.bench
        self._asked += 1
        asked = self._asked

        def reading() -> tuple[str, list[PackRow]] | Failure:
            from hookscope.console.packs.rows import PackRow  # here, and below: as above
            from hookscope.workbench.packs.desk import PackDesk
            from hookscope.workbench.packs.since import newer_here

            try:
                desk = PackDesk(bench)
                finished = desk.recover()
                return finished, [PackRow(one, newer_here(one.record)) for one in desk.statuses()]
            except Exception as error:
                return Failure(said(error))

        self.screen.bridge.ask(ROOM, reading, lambda found: self._read(asked, found))

    def _read(self, asked: int, found: tuple[str, list[PackRow]] | Failure) -> None:
        listed, view = self._shown(), self.screen.state.view
        if asked != self._asked or listed is None or view is None:
            return
        if isinstance(found, Failure):
            self._wrong(found.text)
            return
        finished, rows = found
        if finished:
            self._say(finished)
            self.screen.log_line("pack", finished, "warning")
        listed.show([self._with_newer(row) for row in rows], view, self.fresh)
        self.fresh = ""

    def _with_newer(self, row: PackRow) -> PackRow:
        from hookscope.console.packs.rows import PackRow

        known = self._newer.get((row.id, row.status.record.integrity), "")
        return PackRow(row.status, row.newer if row.newer not in ("", "newer") else known or row.newer)

    def look_inside(self, row: PackRow, view: View) -> None:
        """Read what the sources of a pack do."""
        from hookscope.console.packs.rows import Inside, rows_of_pack

        record = row.status.record
        hooks = [
            place for one in rows_of_pack(record, view) for place in (one.hook.path, one.hook.real) if place
        ]

        def reading() -> Inside:
            from hookscope.workbench.packs.since import uses_on_disk

            return Inside(*uses_on_disk(record, list(dict.fromkeys(hooks))))

        def read(inside: Inside) -> None:
            listed = self._shown()
            if listed is not None:
                listed.show_inside(row, inside)

        self.screen.bridge.ask(ROOM, reading, read)

    def remember(self, planned: Planned | UpToDate) -> None:
        """What a source said of an update."""
        from hookscope.workbench.packs.planned import UpToDate

        if isinstance(planned, UpToDate):
            known = "used as it is" if planned.record.linked is not None else "newest"
            self._newer[planned.record.id, planned.record.integrity] = known
        elif planned.before is not None and planned.after is not None:
            after = planned.after
            same = after.version == planned.before.version
            self._newer[planned.id, planned.before.integrity] = "newer" if same else after.version or "newer"
