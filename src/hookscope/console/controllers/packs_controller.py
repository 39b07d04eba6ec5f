"""Installs, updates and removes packs in a thread, step by step, and reads what the Packs screen shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.state.messages import ThreadAnswered, error_text
from hookscope.console.theme.text_styles import MUTED, safe_line
from hookscope.model.text import one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.app.pack_manager import PackChanges, PackManager
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.console.screens.packs_screen import PacksScreen
    from hookscope.console.screens.packs_sheets import PackRow, PackUses
    from hookscope.packs.errors import Progress
    from hookscope.packs.install_plan import InstallOptions
    from hookscope.packs.plan import PackChanged, PackPlan, PackUpToDate


TaskResult = TypeVar("TaskResult")
PACKS_GROUP = "packs"
CLOCK_SECONDS = 1.0  # seconds between two updates of the elapsed time
SHOWN_STEPS = 3  # steps that are shown


@dataclass(slots=True)
class PackTask:
    """The running task."""

    stop: Event = field(default_factory=Event)
    began: float = field(default_factory=monotonic)
    steps: list[str] = field(default_factory=list)

    def lines(self) -> list[Content]:
        """Return the completed steps, and the current one."""
        *done, now = self.steps[-SHOWN_STEPS:] or ["starting"]
        lines = [Content.assemble(("✓ ", "$text-success"), safe_line(step).stylize(MUTED)) for step in done]
        seconds = int(monotonic() - self.began)
        took = f"   {seconds} s" if seconds else ""
        ends = "stopping" if self.stop.is_set() else f"{key_of('packs.close')} stops it"
        return [*lines, Content.assemble("… ", safe_line(now), (f"{took}   {ends}", MUTED))]


@dataclass(frozen=True, slots=True)
class PackTaskFailure:
    """A failed task, with the reason."""

    text: str


class PackTaskRunner:
    """Runs one task at a time in a thread."""

    def __init__(
        self,
        context: ConsoleContext,
        show: Callable[[Sequence[Content]], object],
        failed: Callable[[str], object],
    ) -> None:
        """`show` receives the progress lines (none once the task has ended); `failed` receives a failure."""
        self._context, self._show, self._failed = context, show, failed
        self._job: PackTask | None = None

    @property
    def busy(self) -> bool:
        """True if a task is running."""
        return self._job is not None

    def stop(self) -> None:
        """Stop the task after a step that is complete."""
        if self._job is not None:
            self._job.stop.set()
            self._tick(self._job)

    def run(
        self, work: Callable[[PackManager, Progress], TaskResult], then: Callable[[TaskResult], object]
    ) -> None:
        """Run a task in a thread, and show its steps."""
        if self._job is not None:
            self._context.notify(with_keys("A task is running: {packs.close} stops it."), "warning")
            return
        job = self._job = PackTask()
        context, bench = self._context, self._context.bench

        def told(step: str) -> None:
            context.post(ThreadAnswered(lambda: self._stepped(job, step)))

        def working() -> TaskResult | PackTaskFailure:
            from hookscope.app.pack_manager import PackManager
            from hookscope.packs.errors import Progress

            try:
                return work(PackManager(bench), Progress(told, job.stop.is_set))
            except Exception as error:  # mostly a Refusal, which `failed` shows
                return PackTaskFailure(error_text(error))

        def ended(answer: TaskResult | PackTaskFailure) -> None:
            self._job = None
            self._show(())
            if isinstance(answer, PackTaskFailure):
                self._failed(answer.text)
            else:
                then(answer)

        self._tick(job)
        context.bridge.ask(PACKS_GROUP, working, ended)
        context.after(CLOCK_SECONDS, lambda: self._clock(job), PACKS_GROUP)

    def _stepped(self, job: PackTask, step: str) -> None:
        job.steps.append(step)
        self._tick(job)

    def _tick(self, job: PackTask) -> None:
        if job is self._job:
            self._show(job.lines())

    def _clock(self, job: PackTask) -> None:
        if job is self._job:
            self._tick(job)
            self._context.after(CLOCK_SECONDS, lambda: self._clock(job), PACKS_GROUP)


class PacksReader:
    """Reads packs in a thread. Outdated answers are dropped."""

    def __init__(
        self,
        context: ConsoleContext,
        shown: Callable[[], PacksScreen | None],
        say: Callable[[str], object],
        wrong: Callable[[str], object],
    ) -> None:
        """`shown` returns the open screen or None; `say` and `wrong` show a line below the list."""
        self.context = context
        self._shown = shown
        self._say = say
        self._wrong = wrong
        self.fresh = ""  # the pack that was just installed, to be selected
        self._newer: dict[tuple[str, str], str] = {}  # update status by pack id and integrity
        self._asked = 0  # number of reads; results of older reads are dropped

    def refresh(self) -> None:
        """Read all packs again."""
        bench = self.context.bench
        self._asked += 1
        asked = self._asked

        def reading() -> tuple[str, list[PackRow]] | PackTaskFailure:
            from hookscope.app.pack_manager import PackManager, newer_source_hint
            from hookscope.console.screens.packs_sheets import PackRow

            try:
                manager = PackManager(bench)
                finished = manager.recover()
                return finished, [PackRow(one, newer_source_hint(one.record)) for one in manager.statuses()]
            except Exception as error:
                return PackTaskFailure(error_text(error))

        self.context.bridge.ask(PACKS_GROUP, reading, lambda found: self._read(asked, found))

    def _read(self, asked: int, found: tuple[str, list[PackRow]] | PackTaskFailure) -> None:
        listed, view = self._shown(), self.context.state.view
        if asked != self._asked or listed is None or view is None:
            return
        if isinstance(found, PackTaskFailure):
            self._wrong(found.text)
            return
        finished, rows = found
        if finished:
            self._say(finished)
            self.context.log_line("pack", finished, "warning")
        listed.show([self._with_newer(row) for row in rows], view, self.fresh)
        self.fresh = ""

    def _with_newer(self, row: PackRow) -> PackRow:
        from hookscope.console.screens.packs_sheets import PackRow

        known = self._newer.get((row.id, row.status.record.integrity), "")
        return PackRow(row.status, row.newer if row.newer not in ("", "newer") else known or row.newer)

    def read_sources(self, row: PackRow, view: Snapshot) -> None:
        """Read what the sources of a pack use."""
        from hookscope.console.screens.packs_sheets import PackUses, hooks_of_pack

        record = row.status.record
        hooks = [
            place for one in hooks_of_pack(record, view) for place in (one.hook.path, one.hook.real) if place
        ]

        def reading() -> PackUses:
            from hookscope.app.pack_manager import uses_on_disk

            return PackUses(*uses_on_disk(record, list(dict.fromkeys(hooks))))

        def read(inside: PackUses) -> None:
            listed = self._shown()
            if listed is not None:
                listed.show_inside(row, inside)

        self.context.bridge.ask(PACKS_GROUP, reading, read)

    def remember(self, planned: PackPlan | PackUpToDate) -> None:
        """Remember the result of an update check."""
        from hookscope.packs.plan import PackUpToDate

        if isinstance(planned, PackUpToDate):
            known = "used directly" if planned.record.linked is not None else "newest"
            self._newer[planned.record.id, planned.record.integrity] = known
        elif planned.before is not None and planned.after is not None:
            after = planned.after
            same = after.version == planned.before.version
            self._newer[planned.id, planned.before.integrity] = "newer" if same else after.version or "newer"


class PacksController:
    """Controls the Packs screen. It runs one pack task at a time, while the console stays usable."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._opened: PacksScreen | None = None
        self.reading = PacksReader(context, lambda: self._list, self._say, self._wrong)
        self._runner = PackTaskRunner(context, self._show_lines, self._failed)
        self._waiting: tuple[str, ...] = ()  # packs still to be updated
        self._results: list[str] = []  # of the last updates
        self._spec = ""  # the last entered package

    def open(self) -> None:
        """Show the packs."""
        if self.context.scanned() is None:
            return
        from hookscope.console.screens.packs_screen import PacksScreen

        self.context.push_dialog(PacksScreen(self))

    def opened(self, listed: PacksScreen) -> None:
        """Handle the mounted screen: read its packs."""
        self._opened = listed
        self.reading.refresh()

    @property
    def _list(self) -> PacksScreen | None:
        return self._opened if self._opened is not None and self._opened.is_open else None

    def scanned(self) -> None:
        """Read the packs again after a scan."""
        if self._list is not None and not self.busy:
            self.reading.refresh()

    # The running task.

    @property
    def busy(self) -> bool:
        """True if a task is running."""
        return self._runner.busy

    def stop(self) -> None:
        """Stop the running task after a step that is complete."""
        self._waiting = ()
        self._runner.stop()

    def close(self) -> None:
        """Stop the running task because the console ends."""
        self._opened, self._waiting = None, ()
        self._runner.stop()

    def _failed(self, text: str) -> None:
        self._wrong(text)
        self._next()

    def _show_lines(self, lines: Sequence[Content]) -> None:
        if self._list is not None:
            self._list.show_message(*lines)

    # Install, update, remove.

    def ask_spec(self, link: bool = False) -> None:
        """Ask which package to install."""
        from hookscope.console.screens.packs_screen import COPY_WORD, LINK_WORD, PackSpecScreen

        if not self._may_write():
            return
        self.context.push_dialog(
            PackSpecScreen(self._spec, LINK_WORD if link else COPY_WORD), self._spec_given
        )

    def _spec_given(self, given: tuple[str, InstallOptions] | None) -> None:
        if given is None:
            return
        self._spec, asked = given
        spec = self._spec
        self._runner.run(
            lambda manager, progress: manager.plan_install(spec, asked, progress), self._show_plan
        )

    def update(self, names: Sequence[str]) -> None:
        """Update packs, one after another."""
        if self._may_write():
            self._waiting, self._results = tuple(names), []
            self._next()

    def _next(self) -> None:
        """Plan the update of the next waiting pack."""
        if not self._waiting or self.busy:
            return
        name, *rest = self._waiting
        self._waiting = tuple(rest)

        def planning(
            manager: PackManager, progress: Progress
        ) -> tuple[PackPlan | PackUpToDate, Mapping[Path, str]]:
            from hookscope.app.pack_manager import replaced_files

            planned = manager.plan_update(name, progress=progress)
            return planned, replaced_files(planned)

        self._runner.run(planning, lambda found: self._update_planned(*found))

    def _update_planned(self, planned: PackPlan | PackUpToDate, diffs: Mapping[Path, str]) -> None:
        from hookscope.packs.plan import PackUpToDate

        self.reading.remember(planned)
        if isinstance(planned, PackUpToDate):
            changed = planned.on_disk.state == "changed"
            aside = f" Changes on disk are kept: {key_of('packs.diff')} shows them." if changed else ""
            self._add_result(f"{planned.record.id}: {planned.reason}.{aside}")
            self.reading.refresh()
            self._next()
        else:
            self._show_plan(planned, diffs)

    def check(self, names: Sequence[str]) -> None:
        """Check each source for a newer version; write nothing."""

        def checking(
            manager: PackManager, progress: Progress
        ) -> list[PackPlan | PackUpToDate | PackTaskFailure]:
            found: list[PackPlan | PackUpToDate | PackTaskFailure] = []
            for name in names:
                try:
                    found.append(manager.plan_update(name, progress=progress))
                except Exception as error:
                    if progress.is_cancelled():
                        raise
                    found.append(PackTaskFailure(f"{name}: {error_text(error)}"))
            return found

        self._runner.run(checking, self._checked)

    def _checked(self, found: Sequence[PackPlan | PackUpToDate | PackTaskFailure]) -> None:
        from hookscope.packs.plan import PackPlan

        for one in found:
            if not isinstance(one, PackTaskFailure):
                self.reading.remember(one)
        newer = [one.id for one in found if isinstance(one, PackPlan)]
        failed = [one.text for one in found if isinstance(one, PackTaskFailure)]
        found_text = f"Newer: {', '.join(newer)}. {key_of('packs.update')} shows it."
        text = found_text if newer else "There is no newer version."
        self._say(text if newer or len(failed) < len(found) else "", *failed)
        self.reading.refresh()

    def remove(self, name: str) -> None:
        """Show what would be removed."""
        if self._may_write():
            self._results = []
            self._runner.run(lambda manager, progress: manager.plan_uninstall(name), self._show_plan)

    def _show_plan(self, planned: PackPlan, diffs: Mapping[Path, str] | None = None) -> None:
        """Show everything that would be written, and ask."""
        from hookscope.console.screens.packs_screen import PackPlanScreen
        from hookscope.console.screens.packs_sheets import failed_integrity_sheet, pack_plan_sheet, plan_title

        view = self.context.state.view
        if self._list is None or view is None:
            return
        machine = view.host.machine
        left = f"   {len(self._waiting)} more after it" if self._waiting else ""
        left += "   2 of 2" if planned.action == "install" else ""
        verb = "remove" if planned.action == "uninstall" else planned.action

        def accepted(agreed: bool | None) -> None:
            if agreed:
                self._runner.run(
                    lambda manager, progress: manager.apply(planned, progress, accept_changed=True),
                    self._done,
                )
            else:
                self._say(f"Nothing was written for {planned.id}.")
                self._next()

        def answered(agreed: bool | None) -> None:
            if agreed and planned.integrity_problem:
                question = f"The integrity check failed. {plan_title(planned)}"
                failed = PackPlanScreen(
                    question, lambda width: failed_integrity_sheet(planned, machine, width), f"{verb} anyway"
                )
                self.context.push_dialog(failed, accepted)
            else:
                accepted(agreed)

        sheet = PackPlanScreen(
            plan_title(planned, left),
            lambda width: pack_plan_sheet(planned, machine, width, diffs or {}),
            verb,
        )
        self.context.push_dialog(sheet, answered)

    def _done(self, done: PackChanged) -> None:
        from hookscope.console.screens.packs_sheets import done_text

        text = done_text(done)
        if done.plan.action == "install":
            self._results, self.reading.fresh = [], done.plan.id
        self._add_result(text)
        action = {"uninstall": "remove"}.get(done.plan.action, done.plan.action)
        self.context.log_line("pack", f"{action}: {text}", subject=done.plan.id)
        self.context.bridge.scan()
        self.reading.refresh()
        self._next()

    def compare(self, row: PackRow) -> None:
        """Show the diff between the installed files and the files on disk."""
        from hookscope.app.pack_manager import pack_changes

        if row.status.record.linked is not None:
            self._say(f"{row.id} is linked: its folder is used directly.")
            return
        self._runner.run(lambda manager, progress: pack_changes(manager, row.id, progress), self._compared)

    def _compared(self, compared: PackChanges) -> None:
        from hookscope.console.screens.packs_screen import PackPlanScreen
        from hookscope.console.screens.packs_sheets import pack_changes_sheet

        view = self.context.state.view
        if self._list is None or view is None:
            return
        if not compared.files:
            self._say(f"{compared.record.id}: all files are unchanged.")
            return
        machine = view.host.machine
        title = f"{one_line(compared.record.id, 60)}   changed on disk since the install"
        self.context.push_dialog(
            PackPlanScreen(title, lambda width: pack_changes_sheet(compared, machine, width))
        )

    def _may_write(self) -> bool:
        """Return False, and show why, under a what-if: an installation changes real files."""
        assumed = sorted(self.context.bench.setup.machine.assumed - {"home"})
        if assumed:
            words, ends = " and ".join(assumed), key_of("console.all_real")
            self._wrong(f"Packs cannot change under a what-if ({words}). Press {ends} to end it.")
        return not assumed

    # Messages.

    def _say(self, *texts: str) -> None:
        if self._list is not None:
            self._list.show_message(*(safe_line(text, 400) for text in texts if text))

    def _add_result(self, text: str) -> None:
        """Add the result of one pack; the last few stay visible."""
        self._results = [*self._results, text][-SHOWN_STEPS:]
        self._say(*self._results)

    def _wrong(self, text: str) -> None:
        if self._list is not None:
            self._list.show_message(Content.assemble(("✗ ", "$text-error"), safe_line(text, 600)))
        else:
            self.context.notify(text, "warning")
