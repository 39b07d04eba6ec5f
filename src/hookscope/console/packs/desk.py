"""What is asked of packs: done in a thread, followed line by line, stopped with esc. Shown before written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from hookscope.console.keymap.hints import key_of
from hookscope.console.packs.errand import LAST, Errand, Failure
from hookscope.console.packs.reading import PacksReading
from hookscope.console.posting import said
from hookscope.console.text import line
from hookscope.core.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.console.packs.rows import PackRow
    from hookscope.console.packs.screen import PacksScreen
    from hookscope.console.shell import Shell
    from hookscope.workbench.packs.desk import PackDesk
    from hookscope.workbench.packs.planned import Done, Planned, Progress, UpToDate
    from hookscope.workbench.packs.planning import Asked
    from hookscope.workbench.packs.since import Compared

T = TypeVar("T")


class PacksDesk:
    """One thing at a time; the rest of the console goes on."""

    def __init__(self, screen: Shell) -> None:
        self.screen = screen
        self._opened: PacksScreen | None = None
        self.reading = PacksReading(screen, lambda: self._list, self._say, self._wrong)
        self._errand = Errand(screen, self._show_lines, self._failed)
        self._waiting: tuple[str, ...] = ()  # packs still to be updated
        self._results: list[str] = []  # of those that were updated one after another
        self._spec = ""  # that was asked for last

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
        self.reading.refresh()

    @property
    def _list(self) -> PacksScreen | None:
        """The packs, as long as they are shown."""
        return self._opened if self._opened is not None and self._opened.stands else None

    def looked(self) -> None:
        """The console has looked again: files of packs may be others."""
        if self._list is not None and not self.busy:
            self.reading.refresh()

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

        self.reading.remember(planned)
        if isinstance(planned, UpToDate):
            changed = planned.on_disk.word == "changed"
            aside = f" What was changed on disk stays: {key_of('packs.diff')} shows it." if changed else ""
            self._came(f"{planned.record.id}: {planned.why}.{aside}")
            self.reading.refresh()
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
                self.reading.remember(one)
        newer = [one.id for one in found if isinstance(one, Planned)]
        failed = [one.text for one in found if isinstance(one, Failure)]
        text = f"Newer: {', '.join(newer)}; {key_of('packs.update')} shows it." if newer else "Nothing newer."
        self._say(text if newer or len(failed) < len(found) else "", *failed)
        self.reading.refresh()

    def remove(self, name: str) -> None:
        """Show what goes."""
        if self._may_write():
            self._results = []
            self._run(lambda desk, progress: desk.plan_uninstall(name), self._show_plan)

    def _show_plan(self, planned: Planned, diffs: Mapping[Path, str] | None = None) -> None:
        """Everything that would be written; then the question."""
        from hookscope.console.packs.asking import SheetScreen
        from hookscope.console.packs.plan_sheet import plan_sheet, title_of, unaccepted_sheet

        view = self.screen.state.view
        if self._list is None or view is None:
            return
        surroundings = view.host.surroundings
        left = f"   {len(self._waiting)} more after it" if self._waiting else ""
        verb = "remove" if planned.action == "uninstall" else planned.action

        def accepted(agreed: bool | None) -> None:
            if agreed:
                self._run(
                    lambda desk, progress: desk.carry_out(planned, progress, accept_changed=True), self._done
                )
            else:
                self._say(f"Nothing was written for {planned.id}.")
                self._next()

        def answered(agreed: bool | None) -> None:
            if agreed and planned.unaccepted:
                question = f"The integrity check failed. {title_of(planned)}"
                failed = SheetScreen(
                    question, lambda width: unaccepted_sheet(planned, surroundings, width), f"{verb} anyway"
                )
                self.screen.app.push_screen(failed, accepted)
            else:
                accepted(agreed)

        sheet = SheetScreen(
            title_of(planned, left), lambda width: plan_sheet(planned, surroundings, width, diffs or {}), verb
        )
        self.screen.app.push_screen(sheet, answered)

    def _done(self, done: Done) -> None:
        from hookscope.console.packs.plan_sheet import done_text

        text = done_text(done)
        if done.planned.action == "install":
            self._results, self.reading.fresh = [], done.planned.id
        self._came(text)
        action = {"uninstall": "remove"}.get(done.planned.action, done.planned.action)
        self.screen.log_line("pack", f"{action}: {text}", subject=done.planned.id)
        self.screen.bridge.look()
        self.reading.refresh()
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
