"""The workbench: one host at a time, scanned, planned and fired."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from hookscope.app.failed_loads import (
    FAILED_LOADS_FILE,
    FailedLoads,
    LoadAttempt,
    load_attempts_for,
)
from hookscope.app.options import Options, Setup, set_up
from hookscope.app.runs.active_runs import ActiveRuns
from hookscope.app.runs.run_record import RunRecord
from hookscope.app.runs.worker_pools import WorkerPools
from hookscope.app.scans import LoadedModules, Scanner
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import handler_digests_below
from hookscope.app.variables import unreadable_files
from hookscope.engine.planning import make_plan
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.failure import Failure
from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus
from hookscope.model.host import Dialect, Host, Trust
from hookscope.model.machine import Files, user_homes
from hookscope.model.refusal import Refusal
from hookscope.model.run import Event, EventKind, Module, Plan, Registration
from hookscope.model.trust import folder_target
from hookscope.runtime.limits import COMMAND_LINE_ORIGIN, Limits
from hookscope.storage.state_files import state_folder
from hookscope.storage.trust import TrustStore

if TYPE_CHECKING:
    from hookscope.app.doctor import SetupFinding
    from hookscope.app.edits import Edits
    from hookscope.app.runs.sandboxed_run import SandboxedWorkers
    from hookscope.app.variables import Filler
    from hookscope.app.watching import ChangeCallback, Watch
    from hookscope.runtime.debugger import Debugger
    from hookscope.runtime.firing import Firing
    from hookscope.runtime.stepper import Stepper
    from hookscope.storage.journal.redaction import Redaction
    from hookscope.storage.journal.secrets import Secret

DEBUGGED = "debugged: its times hold the pauses too"


class Workbench:
    """Opens the host that the options lead to, and answers for it.

    `look` and `plan` read and compute only, and may be called from any thread. `fire` and `load` need a
    running event loop; workers start with the first of them, and `close` ends them.
    """

    def __init__(
        self,
        options: Options = Options(),
        *,
        trust_all: bool = False,
        limits: Limits | None = None,
        timeout: float | None = None,
        spare: bool = False,
        told_late: Callable[[str, str], None] | None = None,
        lingers: float | None = None,
        compares: bool = True,
    ) -> None:
        """Raises Refusal where an option names what is not there, or an environment that cannot be read.

        Args:
            limits: in place of those that the project's configuration sets.
            timeout: seconds that each handler may run, whatever it says of itself; 0: any.
            spare: keep a worker ready beside each that runs. For one event loop, until `close`.
            told_late: hears whose handler did what after it had answered. As `spare`.
            lingers: seconds that a run waits at most for what handlers leave running; what that does is in
                the Run. None: only on copies, which are thrown away behind it.
            compares: rows say what the shipped program does otherwise than the guide in force.
        """
        self.options = options
        self._given = (trust_all, limits, timeout, spare, lingers, compares)
        self.setup: Setup = set_up(options)
        self.limits = limits or self.setup.limits
        if timeout is not None:
            self.limits = self.limits.with_limit("run", timeout, COMMAND_LINE_ORIGIN)
        python, node = self.setup.python, self.setup.node
        self.crew = WorkerPools(python, node, self.limits, spare=spare, told_late=told_late)
        self.modules = LoadedModules()
        self._store = TrustStore(state_folder() / "trust.json")
        self.record = RunRecord(self)
        self.failed_loads = FailedLoads(
            state_folder() / FAILED_LOADS_FILE, python.path if python else sys.executable
        )
        self._looking = Scanner(self.crew, self.modules, self.failed_loads, compares=compares)
        self._trust_all = trust_all
        self._secrets: dict[Secret, None] = {}  # that events got from variables, in order
        self._fires = ActiveRuns(self, lingers)
        if options.environment is not None:
            from hookscope.app.yaml_sections import read_workspace_environment

            read_workspace_environment(self.open().workspace, options.environment)

    def sibling(self, options: Options) -> Workbench:
        """Another workbench that is made as this one was, but for its options. Raises Refusal."""
        trust_all, limits, timeout, spare, lingers, compares = self._given
        made = Workbench(
            options,
            trust_all=trust_all,
            limits=limits,
            timeout=timeout,
            spare=spare,
            lingers=lingers,
            compares=compares,
        )
        made.crew.warn_unprotected = self.crew.warn_unprotected
        return made

    @cached_property
    def edits(self) -> Edits:
        """What writes the user's files, and takes it back."""
        from hookscope.app.edits import Edits  # here: a look edits nothing

        return Edits(self)

    @cached_property
    def filler(self) -> Filler:
        """What fills events with variables."""
        from hookscope.app.variables import Filler  # here: a look fills no events

        return Filler(self, self._secrets)

    @property
    def dialect(self) -> Dialect:
        """The rules in force."""
        return self.setup.dialect

    def open(self, files: Files | None = None) -> Host:
        """The host as it is now: settings and trust read anew. `files`: how its disk is read."""
        setup = set_up(self.options)
        trust = Trust(everything=True, homes=user_homes()) if self._trust_all else self._store.trust()
        here = setup.surroundings if files is None else replace(setup.surroundings, files=files)
        host = open_host(setup.dialect, here, setup.choices, trust=trust)
        return replace(host, problems=host.problems + unreadable_files(host))

    def look(self) -> Snapshot:
        """All hooks as they stand now. Imports nothing, runs nothing."""
        return self._looking.look(self.open, self.setup, self.limits)

    def stop_scans(self) -> None:
        """End the scans that run in other threads. For a program that ends."""
        self._looking.stop()

    @property
    def learned_in(self) -> tuple[Path, ...]:
        """The files that say what may run and what did not load: other commands write them too."""
        return self._store.file, self.failed_loads.file

    def knows_more(self, view: Snapshot) -> bool:
        """Has anybody trusted a folder, or met a handler that does not load, since that look."""
        trusts = not self._trust_all and self._store.trust() != view.host.trust
        return trusts or self.failed_loads.have_changed(view)

    def use_options(self, options: Options) -> None:
        """Look through other options from now on; whose variables fill events stays. Raises Refusal."""
        environment, origin = self.setup.environment, self.setup.environment_from
        setup = replace(set_up(options), environment=environment, environment_from=origin)
        self.setup, self.options = setup, options
        self.crew.use_programs(setup.python, setup.node)

    def use_dialect(self, name: str) -> None:
        """Look under another dialect's rules from now on. Raises Refusal for an unknown one."""
        self.use_options(replace(self.options, dialect=name))

    def use_environment(self, name: str | None) -> None:
        """Fill events with the variables of this environment from now on, or (None) of none."""
        self.setup = replace(self.setup, environment=name, environment_from="chosen" if name else "")

    def hook(self, view: Snapshot, name: str) -> HookStatus:
        """The hook of that name or settings key. Raises Refusal that names the nearest one."""
        row = view.inventory.find(name)
        if row is None:
            from hookscope.app.unknown_names import no_such_hook

            raise no_such_hook(name, view)
        return row

    def template(self, view: Snapshot, key: str) -> Event:
        """A realistic event of that key. Raises Refusal where the key is no event and nobody listens."""
        from hookscope.app.event_templates import template_event
        from hookscope.app.unknown_names import check_key

        check_key(view, key)
        return template_event(key, view.host)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that events got from variables so far."""
        return tuple(self._secrets)

    @property
    def redaction(self) -> Redaction:
        """What hides secrets in all that is written into files. Reads the settings and `.env`."""
        return self.redaction_of(self.open())

    def redaction_of(self, host: Host, *, settings: bool = True) -> Redaction:
        """As `redaction`, for this host; without the secrets of its settings if these are not wanted."""
        from hookscope.app.known_secrets import known_secrets
        from hookscope.storage.journal.redaction import Redaction  # here: a look writes nothing

        keys, known = known_secrets(self, host, settings=settings)
        return Redaction(tuple(dict.fromkeys((*self._secrets, *known))), keys)

    def plan(
        self,
        view: Snapshot,
        event: Event,
        *,
        only: str | None = None,
        automatic: bool = False,
        forced: Sequence[Registration] = (),
    ) -> Plan:
        """Who would run and who not, each with the reason.

        `automatic`: nobody has asked for this very fire, so hooks in quarantine are left out. `forced`:
        calls of hooks that would not run, and do (see forcing.py).

        Raises Refusal for a hook that is not there, for an event with a secret that was not kept, and for
        one that lacks what its host would never leave out.
        """
        from hookscope.app.event_templates import check_required_fields  # here: a look plans nothing
        from hookscope.app.near_misses import with_near_misses
        from hookscope.recording.installed_taps import without_taps

        if only is not None:
            only = self.hook(view, only).hook.name
        event = self.filler.resolved(event, view)
        check_required_fields(event, view.host)
        plan = make_plan(
            event,
            view.registry,
            view.inventory,
            view.host,
            languages=view.languages,
            without=view.without,
            only=only,
            barred=self.crew.barred if automatic else None,
            forced=forced,
            bystanders=view.bystanders,
        )
        return with_near_misses(plan if only is not None else without_taps(plan), view)

    async def module(self, view: Snapshot, hook: Hook) -> Module | Failure:
        """The module of a plugin or stream hook, or why it does not load. Imports it in its worker.

        Its language is one of the view's, and its folder trusted: that is the caller's to see to.
        """
        lanes = self.crew.lanes(view.host, view.languages)
        return await self.modules.load_one(hook, view.host, lanes.code[hook.language])

    async def ready(self, view: Snapshot, kind: EventKind) -> Snapshot:
        """The view with the modules loaded whose events, or their order, only a load can tell.

        Of folder hooks that is none, unless plugins hear their events too. Imports handlers that are
        trusted, in their workers.
        """
        if kind == "folder" and not view.host.dialect.load_rules.crosses:
            return view
        lanes, begun = self.crew.lanes(view.host, view.languages), time()
        if not await self.modules.load(view.inventory, view.host, lanes, kind):
            return view
        ready = self.look()
        await self.learn(ready.host, load_attempts_for(ready.inventory, ready.host), begun)
        return ready

    async def expect(self, view: Snapshot, plan: Plan) -> None:
        """This plan will be fired soon: the workers that it needs begin to start."""
        import asyncio  # here, as everywhere: a look waits for nothing

        self.crew.lanes(view.host, view.languages).expect(plan)
        await asyncio.sleep(0)  # they have begun when this returns

    def fire(self, view: Snapshot, plan: Plan, stepper: Stepper | None = None) -> Firing:
        """Run a plan of this view in worker processes; with a `stepper` handler by handler."""
        return self._fires.begin(view, plan, stepper=stepper)

    async def fire_guarded(self, view: Snapshot, plan: Plan, stepper: Stepper | None = None) -> Firing:
        """Run a plan on copies of the workspace, the host's state folder and HOME, thrown away afterwards.

        Raises OSError where the copies cannot be made.
        """
        return self._fires.begin(view, plan, await self.guard(view), stepper=stepper)

    async def fire_debugged(
        self, view: Snapshot, plan: Plan, debugger: Debugger, *, sandbox: bool = False
    ) -> Firing:
        """Run a plan in workers of its own, whose handlers stop for this debugger and have no limits of time.

        Raises OSError where copies for the `sandbox` cannot be made.
        """
        host, languages = view.host, view.languages
        plan = replace(plan, notes=(*plan.notes, DEBUGGED))
        if sandbox:
            return self._fires.begin(view, plan, await self.crew.guarded(host, languages, debugger))
        return self._fires.begin(view, plan, self.crew.apart(host, languages, debugger))

    async def guard(self, view: Snapshot) -> SandboxedWorkers:
        """Copies for several runs. They are the caller's to close. Raises OSError."""
        return await self.crew.guarded(view.host, view.languages)

    def fire_on(self, view: Snapshot, plan: Plan, guard: SandboxedWorkers) -> Firing:
        """Run a plan on copies that stay; what was done to them since they were made is in the Run."""
        return self._fires.begin(view, plan, guard, stays=True)

    def fire_aside(self, view: Snapshot, plan: Plan, guard: SandboxedWorkers | None = None) -> Firing:
        """Run a plan that goes on no record: one of very many. On copies where there are some."""
        return self._fires.begin(view, plan, guard, recorded=False)

    async def learn(self, host: Host, tried: Sequence[LoadAttempt], begun: float) -> None:
        """Remember what did not load, and forget what has since: not under a what-if, which is no trial."""
        if not host.surroundings.assumed:
            await self.failed_loads.learn(tried, begun, cache(partial(self.redaction_of, host)))

    def trust(self, folder: Path, *, everything_below: bool = False, as_asked: bool = False) -> Path:
        """Allow a folder and all below it to run; the real path that was recorded.

        Raises Refusal, also where the folder is too wide, unless `everything_below` says so, and with
        `as_asked` where it is no longer the real folder that the question named.
        """
        here = self.setup.surroundings
        path, real = here.absolute(folder), here.real(folder)
        if here.real(path) != real:  # `cd` takes one, all else the other
            raise Refusal(f"{folder} may mean {here.real(path)} or {real}: `..` follows a link.", "Name one.")
        if not os.path.isdir(path):
            raise Refusal(f"There is no folder {path}.", "`hookscope list` shows where hooks are.")
        host = self.open()
        target = folder_target(path, host)
        if as_asked and target.folder != path:
            raise Refusal(f"{path} leads to {target.folder} since the question.", "Nothing was trusted.")
        if target.refused and not everything_below:
            leads = f"{path} leads to {target.folder}, which" if target.folder != path else f"{path}"
            raise Refusal(
                f"{leads} is too wide to trust, since {target.refused}.",
                f"Name a folder of hooks; `{target.command(here.short)}` allows everything below it.",
            )
        digests = handler_digests_below(target.folder, host)
        self._store.add(target.folder, digests, everything_below=everything_below)
        return target.folder

    def distrust_gone(self, folders: Iterable[Path]) -> None:
        """Forget the trust in those of these folders that are gone, and below them.

        What comes there later is another. Raises Refusal where that cannot be recorded.
        """
        self._store.drop(folder for folder in map(Path.resolve, folders) if not os.path.lexists(folder))

    async def settled(self, seconds: float) -> tuple[str, ...]:
        """What handlers did after they had answered, and what of theirs runs on, as sentences.

        Waits until it is over, so many seconds at most.
        """
        return await self._fires.settled(seconds)

    def doctor(self, view: Snapshot) -> tuple[SetupFinding, ...]:
        """What was detected and from where, and what is missing."""
        from hookscope.app.doctor import examine_setup  # here: one command asks it

        return examine_setup(view, self.setup, self.crew.node(view.host))

    def watch(self, told: ChangeCallback) -> Watch:
        """A watch that tells, from a thread of its own, which files changed. It is the caller's to close."""
        from hookscope.app.watching import Watch

        return Watch(told)

    def close_now(self) -> None:
        """`close` for a caller without an event loop."""
        import asyncio

        asyncio.run(self.close())

    async def close(self) -> None:
        """Cancel what runs, end all workers, and wait until they are gone and all is on record."""
        await self._fires.cancel()
        await self.crew.close()
        await self.record.close()
