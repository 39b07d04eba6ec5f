"""What the Fire, Log and Hosts panes ask for, and what comes of it, carried between them and the desks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from hookscope.console.fire import asked
from hookscope.console.happening import Armed, Busy, Drafted, ModeChosen
from hookscope.console.hosts.asked import HostsAsked
from hookscope.console.keymap.hints import key_of
from hookscope.console.log.pane import LogPane
from hookscope.console.messages import (
    DebugOver,
    FiringOver,
    FiringStarted,
    HandlerStopped,
    JobBegan,
    JobOver,
    PlayOver,
    RealCame,
    StepsCame,
)
from hookscope.console.shell import Shell
from hookscope.console.state import Composed

if TYPE_CHECKING:
    from hookscope.workbench import PastRun


class Carrier(Shell):
    """Composing, firing, and what is seen of it."""

    @on(asked.DraftChanged)
    def _drafted(self, event: asked.DraftChanged) -> None:
        self.change(Drafted(Composed(event.event, event.only)))

    @on(asked.FireAsked)
    def _fire(self, event: asked.FireAsked) -> None:
        self.desk.ask(Composed(event.event, event.only, event.guarded, event.written, event.way, event.file))

    @on(asked.EnvironmentAsked)
    def _environment_asked(self, event: asked.EnvironmentAsked) -> None:
        self.bridge.bench.use_environment(event.name)
        self.bridge.look()

    @on(asked.SavedAsked)
    def _saved_asked(self) -> None:
        self.saved.show_list()

    @on(asked.SaveAsked)
    def _save_asked(self, event: asked.SaveAsked) -> None:
        self.saved.save(event.saved, event.file, event.draft)

    @on(asked.FuzzAsked)
    def _fuzz_asked(self, event: asked.FuzzAsked) -> None:
        self.desk.fuzz(event.event, event.only)

    @on(asked.ReplayAsked)
    def _replay_asked(self, event: asked.ReplayAsked) -> None:
        self.comparing.replay(event.start)

    @on(asked.CompareAsked)
    def _compare_asked(self) -> None:
        self.comparing.show()

    @on(asked.AcceptAsked)
    def _accept_asked(self, event: asked.AcceptAsked) -> None:
        self.saved.accept(event.number, event.checked)

    @on(asked.PlayAsked)
    def _play(self, event: asked.PlayAsked) -> None:
        self.desk.play(event.text)

    @on(asked.ArmAsked)
    def _arm(self, event: asked.ArmAsked) -> None:
        from hookscope.console.fire.draft import same_event  # here: the first paint needs no composer

        draft, armed = Composed(event.event, event.only, written=True, file=event.file), self.state.armed
        if not self.watches:
            self.say("Nothing is watched, so no save would be noticed.", "warning")
        elif armed and same_event(armed.event, draft.event) and armed.only == draft.only:
            self.change(Armed(None))
            self.say(f"{event.event.key} no longer fires on save.")
        else:
            self.change(Armed(draft))
            self.say(f"{event.event.key} fires again whenever a file is saved; {key_of('fire.arm')} ends it.")

    @on(asked.StepAsked)
    def _step(self, event: asked.StepAsked) -> None:
        self.desk.step(event.word)

    @on(asked.DebugAsked)
    def _debug(self) -> None:
        self.debugging.open()

    @on(HandlerStopped)
    def _handler_stopped(self, event: HandlerStopped) -> None:
        self.debugging.stopped(event)

    @on(DebugOver)
    def _debug_over(self) -> None:
        self.debugging.over()

    @on(asked.CancelAsked)
    def _cancel(self) -> None:
        self.desk.cancel()

    @on(LogPane.RunAsked)
    def _run_asked(self, event: LogPane.RunAsked) -> None:
        bench, view = self.bridge.bench, self.state.view
        if self.fire_pane.show_run(event.number):
            self.change(ModeChosen("fire"))
        elif view is not None:  # the Fire mode keeps the last ones, the journal more

            def show(past: PastRun) -> None:
                self.fire_pane.show_past(past)
                self.change(ModeChosen("fire"))

            self.bridge.ask("journal", lambda: bench.record.run(view, event.number), show)

    @on(LogPane.RealAsked)
    def _real_asked(self, event: LogPane.RealAsked) -> None:
        (self.real.save if event.save else self.real.open)(event.name)

    @on(LogPane.TapAsked)
    def _tap_asked(self) -> None:
        self.real.show_lists()

    @on(HostsAsked)
    def _hosts_asked(self, event: HostsAsked) -> None:
        self.hosts.asked(event.what)

    @on(RealCame)
    def _real_came(self, event: RealCame) -> None:
        self.log_entries(event.entries)
        self.remember(event.runs)
        self.happened(event.happened)

    @on(JobBegan)
    def _job_began(self, event: JobBegan) -> None:
        self.change(Busy(event.job))

    @on(JobOver)
    def _job_over(self) -> None:
        self.change(Busy(""))
        self.desk.rested()
        if self.state.view is not None and self.bridge.bench.knows_more(self.state.view):
            self.bridge.look()

    @on(FiringStarted)
    def _firing_started(self, event: FiringStarted) -> None:
        self.desk.started(event)

    @on(StepsCame)
    def _steps_came(self, event: StepsCame) -> None:
        self.desk.steps(event)

    @on(PlayOver)
    def _play_over(self, event: PlayOver) -> None:
        self.desk.played(event)

    @on(FiringOver)
    def _firing_over(self, event: FiringOver) -> None:
        self.desk.over(event)
