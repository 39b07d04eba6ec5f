"""What is asked of packs: done in a thread, followed line by line, stopped with esc. Shown before written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from hookscope.console.keymap.hints import key_of
from hookscope.console.packs.errand import LAST, Errand, Failure
from hookscope.console.posting import said
from hookscope.console.text import line
from hookscope.core.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.console.packs.rows import Inside, PackRow
    from hookscope.console.packs.screen import PacksScreen
    from hookscope.console.shell import Shell
    from hookscope.workbench import View
    from hookscope.workbench.packs.desk import PackDesk
    from hookscope.workbench.packs.planned import Done, Planned, Progress, UpToDate
    from hookscope.workbench.packs.planning import Asked
    from hookscope.workbench.packs.since import Compared

T = TypeVar("T")
ROOM = "packs"


class PacksDesk:
    """One thing at a time; the rest of the console goes on."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._opened: PacksScreen | None = None
        self._errand = Errand(screen, self._show_lines, self._failed)
        self._waiting: tuple[str, ...] = ()  # packs still to be updated
        self._newer: dict[tuple[str, str], str] = {}  # by id and integrity, what a source said
        self._insides: dict[tuple[str, datetime], Inside] = {}
        self._results: list[str] = []  # of those that were updated one after another
        self._fresh = ""  # the pack that was just installed
        self._spec = ""  # that was asked for last
        self._asked = 0  # how often the packs were read

    def open(self) -> None:
        """Show the packs."""
        if self.screen.state.view is None:
            self.screen.say("Still looking.", "warning")
            return
        from hookscope.console.packs.screen import PacksScreen  # here: the first paint does without

        self.screen.app.push_screen(PacksScreen(self))

    def opened(self, listed: PacksScreen) -> None:
        """It stands there whole, and wants its packs."""
        self._opened = listed
        self.refresh()

    @property
    def _list(self) -> PacksScreen | None:
        """The packs, as long as they are shown."""
        return self._opened if self._opened is not None and self._opened.stands else None

    def looked(self) -> None:
        """The console has looked again: files of packs may be others."""
        if self._list is not None and not self.busy:
            self.refresh()

    # What is installed.

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
        view = self.screen.state.view
        if asked != self._asked or self._list is None or view is None:
            return
        if isinstance(found, Failure):
            self._wrong(found.text)
            return
        finished, rows = found
        if finished:
            self._say(finished)
            self.screen.log_line("pack", finished, "warning")
        self._list.show([self._with_newer(row) for row in rows], view, self._fresh)
        self._fresh = ""

    def _with_newer(self, row: PackRow) -> PackRow:
        from hookscope.console.packs.rows import PackRow

        known = self._newer.get((row.id, row.status.record.integrity), "")
        return PackRow(row.status, row.newer if row.newer not in ("", "newer") else known or row.newer)

    def look_inside(self, row: PackRow, view: View) -> None:
        """Read what the sources of a pack do."""
        from hookscope.console.packs.rows import Inside, rows_of_pack

        record = row.status.record
        key = (record.id, record.at)
        hooks = [
            place for one in rows_of_pack(record, view) for place in (one.hook.path, one.hook.real) if place
        ]

        def reading() -> Inside:
            from hookscope.workbench.packs.since import uses_on_disk

            return Inside(*uses_on_disk(record, list(dict.fromkeys(hooks))))

        def read(inside: Inside) -> None:
            self._insides[key] = inside
            if self._list is not None:
                self._list.show_inside(row, inside)

        self.screen.bridge.ask(ROOM, reading, read)

    # What takes time.

    @property
    def busy(self) -> bool:
        """Does anything go on."""
        return self._errand.busy

    def stop(self) -> None:
        """Stop what goes on; it ends where nothing is half done."""
        self._waiting = ()
        self._errand.stop()

    def close(self) -> None:
        """The console ends: so does what goes on."""
        self._opened, self._waiting = None, ()
        self._errand.stop()

    def _run(self, work: Callable[[PackDesk, Progress], T], then: Callable[[T], object]) -> None:
        self._errand.run(work, then)

    def _failed(self, text: str) -> None:
        self._wrong(text)
        self._next()

    def _show_lines(self, lines: Sequence[Content]) -> None:
        if self._list is not None:
            self._list.say(*lines)

    # Install, update, remove.

    def ask_spec(self, link: bool = False) -> None:
        """Ask which package."""
        from hookscope.console.packs.asking import COPY, LINK, SpecScreen

        if not self._may_write():
            return
        self.screen.app.push_screen(SpecScreen(self._spec, LINK if link else COPY), self._spec_given)

    def _spec_given(self, given: tuple[str, Asked] | None) -> None:
        if given is None:
            return
        self._spec, asked = given
        spec = self._spec
        self._run(lambda desk, progress: desk.plan_install(spec, asked, progress), self._show_plan)

    def update(self, names: Sequence[str]) -> None:
        """Each of them, one after another."""
        if self._may_write():
            self._waiting, self._results = tuple(names), []
            self._next()

    def _next(self) -> None:
        """The next pack that waits for its update."""
        if not self._waiting or self.busy:
            return
        name, *rest = self._waiting
        self._waiting = tuple(rest)

        def planning(desk: PackDesk, progress: Progress) -> tuple[Planned | UpToDate, Mapping[Path, str]]:
            from hookscope.workbench.packs.since import replaced

            planned = desk.plan_update(name, progress=progress)
            return planned, replaced(planned)

        self._run(planning, lambda found: self._update_planned(*found))

    def _update_planned(self, planned: Planned | UpToDate, diffs: Mapping[Path, str]) -> None:
        from hookscope.workbench.packs.planned import UpToDate

        self._remember(planned)
        if isinstance(planned, UpToDate):
            changed = planned.on_disk.word == "changed"
            aside = f" What was changed on disk stays: {key_of('packs.diff')} shows it." if changed else ""
            self._came(f"{planned.record.id}: {planned.why}.{aside}")
            self.refresh()
            self._next()
        else:
            self._show_plan(planned, diffs)

    def check(self, names: Sequence[str]) -> None:
        """Ask each source for something newer, and write nothing."""

        def checking(desk: PackDesk, progress: Progress) -> list[Planned | UpToDate | Failure]:
            found: list[Planned | UpToDate | Failure] = []
            for name in names:
                try:
                    found.append(desk.plan_update(name, progress=progress))
                except Exception as error:
                    if progress.cancelled():
                        raise
                    found.append(Failure(f"{name}: {said(error)}"))
            return found

        self._run(checking, self._checked)

    def _checked(self, found: Sequence[Planned | UpToDate | Failure]) -> None:
        from hookscope.workbench.packs.planned import Planned

        for one in found:
            if not isinstance(one, Failure):
                self._remember(one)
        newer = [one.id for one in found if isinstance(one, Planned)]
        failed = [one.text for one in found if isinstance(one, Failure)]
        text = f"Newer: {', '.join(newer)}; {key_of('packs.update')} shows it." if newer else "Nothing newer."
        self._say(text if newer or len(failed) < len(found) else "", *failed)
        self.refresh()

    def _remember(self, planned: Planned | UpToDate) -> None:
        """What a source said of an update."""
        from hookscope.workbench.packs.planned import UpToDate

        if isinstance(planned, UpToDate):
            known = "used as it is" if planned.record.linked is not None else "newest"
            self._newer[planned.record.id, planned.record.integrity] = known
        elif planned.before is not None and planned.after is not None:
            after = planned.after
            same = after.version == planned.before.version
            self._newer[planned.id, planned.before.integrity] = "newer" if same else after.version or "newer"

    def remove(self, name: str) -> None:
        """Show what goes."""
        if self._may_write():
            self._results = []
            self._run(lambda desk, progress: desk.plan_uninstall(name), self._show_plan)

    def _show_plan(self, planned: Planned, diffs: Mapping[Path, str] | None = None) -> None:
        """Everything that would be written; then the question."""
        from hookscope.console.packs.asking import SheetScreen
        from hookscope.console.packs.plan_sheet import plan_sheet, title_of

        view = self.screen.state.view
        if self._list is None or view is None:
            return
        surroundings = view.host.surroundings
        left = f"   {len(self._waiting)} more after it" if self._waiting else ""
        verb = "remove" if planned.action == "uninstall" else planned.action

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._run(lambda desk, progress: desk.carry_out(planned, progress), self._done)
            else:
                self._say(f"Nothing was written for {planned.id}.")
                self._next()

        sheet = SheetScreen(
            title_of(planned, left), lambda width: plan_sheet(planned, surroundings, width, diffs or {}), verb
        )
        self.screen.app.push_screen(sheet, answered)

    def _done(self, done: Done) -> None:
        from hookscope.console.packs.plan_sheet import done_text

        text = done_text(done)
        if done.planned.action == "install":
            self._results, self._fresh = [], done.planned.id
        self._came(text)
        action = {"uninstall": "remove"}.get(done.planned.action, done.planned.action)
        self.screen.log_line("pack", f"{action}: {text}", subject=done.planned.id)
        self.screen.bridge.look()
        self.refresh()
        self._next()

    def compare(self, row: PackRow) -> None:
        """What has changed on disk since, as a diff against what was installed."""
        from hookscope.workbench.packs.since import changed_since

        if row.status.record.linked is not None:
            self._say(f"{row.id} is linked: its folder is used as it is.")
            return
        self._run(lambda desk, progress: changed_since(desk, row.id, progress), self._compared)

    def _compared(self, compared: Compared) -> None:
        from hookscope.console.packs.asking import SheetScreen
        from hookscope.console.packs.compared_sheet import compared_sheet

        view = self.screen.state.view
        if self._list is None or view is None:
            return
        if not compared.files:
            self._say(f"{compared.record.id}: every file is as it was installed.")
            return
        surroundings = view.host.surroundings
        title = f"{one_line(compared.record.id, 60)}   changed on disk since"
        self.screen.app.push_screen(
            SheetScreen(title, lambda width: compared_sheet(compared, surroundings, width))
        )

    def _may_write(self) -> bool:
        """What is installed is real, whatever is assumed."""
        assumed = sorted(self.screen.bridge.bench.setup.surroundings.assumed - {"home"})
        if assumed:
            words, ends = " and ".join(assumed), key_of("console.all_real")
            self._wrong(f"What is installed is real, and {words} would be assumed; {ends} ends that.")
        return not assumed

    # What is said.

    def _say(self, *texts: str) -> None:
        if self._list is not None:
            self._list.say(*(line(text, 400) for text in texts if text))

    def _came(self, text: str) -> None:
        """What came of one of several: the last ones stand below each other."""
        self._results = [*self._results, text][-LAST:]
        self._say(*self._results)

    def _wrong(self, text: str) -> None:
        if self._list is not None:
            self._list.say(Content.assemble(("✗ ", "$text-error"), line(text, 600)))
        else:
            self.screen.say(text, "warning")
