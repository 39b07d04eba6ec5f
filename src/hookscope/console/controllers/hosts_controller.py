"""Compares hosts, and fires an event on all of them, for the Hosts pane."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.analysis.host_comparison import RunAtHost, outcomes_differ
from hookscope.analysis.several_hosts import comparable_dialects, compare_hosts, usual_dialects
from hookscope.app.variables import filled_event
from hookscope.console.dialogs.choosers import HostChooser
from hookscope.console.dialogs.trust_question import TrustAnswer, allowed_folders, ask_trust
from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.state.messages import error_text

if TYPE_CHECKING:
    from hookscope.analysis.host_comparison import HostComparison
    from hookscope.analysis.several_hosts import HostRuns
    from hookscope.analysis.several_machines import ComparedMachine
    from hookscope.app.workbench import Workbench
    from hookscope.console.context import ConsoleContext
    from hookscope.console.panes.hosts_pane import HostsPane
    from hookscope.model.host import Dialect
    from hookscope.model.run import Event
    from hookscope.model.trust import TrustTarget

HOSTS_GROUP = "hosts"


class HostsController:
    """Compares in a thread: one comparison runs, at most one waits. Opening Hosts mode starts the first."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._chosen: tuple[Dialect, ...] = ()  # empty: the usual dialects
        # Returns the machines to compare instead of hosts.
        self._places: Callable[[], tuple[ComparedMachine, ...]] | None = None
        self._stale = True
        self._comparing = False
        self._is_requested = False  # by the user: the result is reported in any case
        self._firing: HostRuns | None = None

    @property
    def pane(self) -> HostsPane:
        return self.context.panes.hosts_pane

    @property
    def firing(self) -> bool:
        """True if an event is being fired on the hosts, or is about to be."""
        return self._firing is not None

    def scanned(self) -> None:
        """Compare again after a scan, now or when the mode is next opened."""
        self._stale = True
        self.refresh()

    def refresh(self) -> None:
        """Compare again if the pane is visible and outdated."""
        if (
            "hosts" in self.context.panes.shown
            and self.pane.parts_mounted
            and self._stale
            and self.context.state.view is not None
        ):
            self.compare()

    def compare(self) -> None:
        if self._comparing:
            self._stale = True
            return
        self._comparing, self._stale = True, False
        bench, chosen, places_of = self.context.bench, self._chosen, self._places

        def comparing() -> HostComparison | str:
            try:
                places = places_of() if places_of is not None else ()
                if places:
                    from hookscope.analysis.several_machines import compare_machines

                    return compare_machines(places)
                return compare_hosts(bench, chosen or usual_dialects(bench))
            except Exception as error:  # the next scan tries again
                return error_text(error)

        self.context.bridge.ask(HOSTS_GROUP, comparing, self._compared, scans=True)

    def _compared(self, found: HostComparison | str) -> None:
        self._comparing = False
        if isinstance(found, str):
            self.context.notify(f"The hosts could not be compared: {found}", "error")
        else:
            before = self.pane.comparison
            self.pane.show(found)
            if self._is_requested and before is not None and not self._stale:
                same = before.lines == found.lines
                self.context.notify(f"Compared again: {'no changes' if same else 'hooks have changed'}.")
                self._is_requested = False
        self.refresh()

    def compare_places(self, places: Callable[[], tuple[ComparedMachine, ...]]) -> None:
        """Compare these machines instead of hosts, until hosts are chosen or no machine is left."""
        self._places, self._stale = places, True

    def handle(self, what: str) -> None:
        """Handle a request of the Hosts pane."""
        match what:
            case "compare":
                self._stale = self._is_requested = True
                self.compare()
            case "choose":
                self._choose()
            case "fire":
                self._ask_fire()
            case "cancel" if self._firing is not None:
                self._firing.cancel()

    def _dialects(self) -> tuple[Dialect, ...]:
        found = self.pane.comparison
        return tuple(side.dialect for side in found.sides) if found is not None else ()

    def _choose(self) -> None:
        if self.pane.comparison is not None and self.pane.comparison.compares_machines:
            self._places, self._stale = None, True
            self.compare()
            return
        known = comparable_dialects(self.context.bench)
        shown = [dialect.name for dialect in self._dialects()]

        def chosen(names: tuple[str, ...] | None) -> None:
            if names is not None:
                self._chosen = tuple(dialect for dialect in known if dialect.name in names)
                self._stale = True
                self.compare()

        self.context.push_dialog(HostChooser(known, shown), chosen)

    # Firing.

    def _ask_fire(self) -> None:
        if self.pane.comparison is not None and self.pane.comparison.compares_machines:
            self.context.notify(
                with_keys(
                    "An event cannot be fired in two environments: {hosts.choose} "
                    "chooses hosts, {console.fire} fires with the assumptions."
                ),
                "warning",
            )
            return
        dialects, event = self._dialects(), self._event()
        if self._firing is not None:
            self.context.notify(with_keys("An event is running; {hosts.leave} cancels it."), "warning")
        elif event is not None and dialects:
            from hookscope.analysis.several_hosts import HostRuns, exact_event

            bench = self.context.bench
            firing = HostRuns(bench, dialects, exact_event(event))
            self._firing = firing
            self.context.bridge.ask(
                HOSTS_GROUP,
                lambda: _untrusted_targets(firing),
                lambda targets: self._ready(event, targets),
                opens=True,
                scans=True,
            )

    def _event(self) -> Event | None:
        """Return the composer's event with its variables filled in."""
        draft, filling = self.context.state.draft, self.context.state.filling
        if draft.event is None:
            self.context.notify(
                with_keys("Compose an event first: {console.fire} opens the composer."), "warning"
            )
            return None
        if not draft.written or filling is None:
            return draft.event
        try:
            return filled_event(draft.event, filling, self.context.bench.filler.fill)
        except Exception as error:  # a variable that is not set
            self.context.notify(error_text(error), "warning")
            return None

    def _ready(self, event: Event, targets: tuple[TrustTarget, ...] | str) -> None:
        view = self.context.state.view
        if isinstance(targets, str) or view is None:
            self._firing = None
            self.context.notify(str(targets), "warning")
        elif targets:
            ask_trust(
                self.context,
                targets,
                view,
                lambda answer: self._answered(answer, event, allowed_folders(targets)),
                firing=True,
            )
        else:
            self._fire(event)

    def _answered(self, answer: TrustAnswer | None, event: Event, folders: tuple[Path, ...]) -> None:
        bench = self.context.bench
        if answer == "trust":
            self.context.bridge.ask(
                HOSTS_GROUP,
                lambda: _trust_folders(bench, folders),
                lambda problem: self._trusted(event, folders, problem),
            )
        elif answer == "without":
            self._fire(event)
        else:
            self._firing = None

    def _trusted(self, event: Event, folders: tuple[Path, ...], problem: str) -> None:
        if problem:
            self._firing = None
            self.context.notify(problem, "error")
            return
        for folder in folders:
            self.context.log_line("trust", f"handlers in {folder} may run now", subject=folder.name)
        self.context.bridge.scan()
        self._fire(event)

    def _fire(self, event: Event) -> None:
        firing = self._firing
        if firing is None:
            return
        self.pane.fire_began(event.key)

        async def fire() -> None:
            runs: tuple[RunAtHost, ...] = ()
            try:
                runs = await firing.run()
            except Exception as error:
                self.context.notify(f"Firing at the hosts failed: {error_text(error)}", "error")
            finally:
                self._firing = None
            self._fired(event, runs)

        self.context.run(fire(), "fire at hosts", "hosts fire")

    def _fired(self, event: Event, runs: tuple[RunAtHost, ...]) -> None:
        self.pane.fire_ended(runs)
        if runs:
            words = "different results" if outcomes_differ(runs) else "equal results"
            names = ", ".join(one.dialect.name for one in runs)
            self.context.log_line("hosts", f"fired at {names}: {words}", subject=event.key)
            if "hosts" not in self.context.panes.shown:
                self.context.notify(f"{event.key} was fired at {len(runs)} hosts: {words}.")


def _untrusted_targets(firing: HostRuns) -> tuple[TrustTarget, ...] | str:
    """Return the folders that need trust, or why the event cannot be fired."""
    try:
        return firing.folders_to_trust()
    except Exception as error:
        return error_text(error)


def _trust_folders(bench: Workbench, folders: tuple[Path, ...]) -> str:
    """Trust these folders. Return why that failed; empty if it did not."""
    try:
        for folder in folders:
            bench.trust(folder, must_be_real=True)
    except Exception as error:
        return error_text(error)
    return ""
