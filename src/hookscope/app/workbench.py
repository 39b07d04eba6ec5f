"""The workbench: scans one host, plans events and fires them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from hookscope.app.event_templates import check_required_fields, template_event
from hookscope.app.load_record import FAILED_LOADS_FILE, LoadAttempt, LoadRecord, load_attempts_for
from hookscope.app.options import CHOSEN_IN_CONSOLE, Options, Setup, set_up
from hookscope.app.project_config import read_workspace_environment
from hookscope.app.runs.active_runs import ActiveRuns, RunRecord
from hookscope.app.runs.worker_pools import WorkerPools
from hookscope.app.scans import LoadedModules, Scanner
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import handler_digests_below
from hookscope.engine.planning import make_plan
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.failure import Failure, Refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus
from hookscope.model.host import Dialect, Host, Trust
from hookscope.model.machine import Files, user_homes
from hookscope.model.run import Event, EventKind, Module, Plan, Registration
from hookscope.model.trust import folder_target
from hookscope.recording.taps import without_taps
from hookscope.runtime.limits import COMMAND_LINE_ORIGIN, Limits
from hookscope.storage.journal.records import plain_json
from hookscope.storage.state_files import (
    CONFIG_FILE,
    MASK_KEY,
    config_folder,
    masked_names_in,
    read_config_document,
    state_folder,
    unreadable_files,
)
from hookscope.storage.trust import TrustStore

if TYPE_CHECKING:
    from hookscope.app.doctor import SetupFinding
    from hookscope.app.edits import Edits
    from hookscope.app.runs.sandboxed_run import SandboxedWorkers
    from hookscope.app.variables import Filler
    from hookscope.app.watching import ChangeCallback, Watch
    from hookscope.runtime.debugger import Debugger, Stepper
    from hookscope.runtime.firing import Firing
    from hookscope.storage.journal.redaction import Redaction
    from hookscope.storage.journal.secrets import Secret, SecretKeys


def known_secrets(bench: Workbench, host: Host, *, settings: bool) -> tuple[SecretKeys, tuple[Secret, ...]]:
    """Return the secret keys, and the secrets of variables, environments and settings. Never raises.

    The keys are the defaults, those listed by the project, and those of the user's configuration.
    """
    from hookscope.app.variables import variables_of  # here and below: a scan masks nothing
    from hookscope.storage.journal.redaction import secrets_of_variables
    from hookscope.storage.journal.run_environment import secrets_of_settings
    from hookscope.storage.journal.secrets import SecretKeys

    own = read_config_document(config_folder() / CONFIG_FILE).value.get(MASK_KEY)
    keys = SecretKeys.with_names((*bench.setup.mask, *masked_names_in(own)))
    chosen = bench.setup.environment
    try:
        environment = None if chosen is None else read_workspace_environment(host.workspace, chosen)
        variables = variables_of(host, bench.options.env, environment)
    except Refusal:
        variables = variables_of(host, bench.options.env)
    environments = (variables.values, host.env, host.machine.env, os.environ)
    found = [secret for values in environments for secret in secrets_of_variables(values, keys)]
    if settings and host.settings.exists:
        found += secrets_of_settings(plain_json(host.settings.value), keys)
    return keys, tuple(dict.fromkeys(found))


DEBUGGED = "debugged: its times include the pauses"


class Workbench:
    """Opens one host, and scans it, plans events and fires them.

    `scan` and `plan` only read and compute, and may be called from any thread. `fire` and
    `load_modules` need a running event loop. Workers start with the first of them; `close` ends them.
    """

    def __init__(
        self,
        options: Options = Options(),
        *,
        trust_all: bool = False,
        limits: Limits | None = None,
        timeout: float | None = None,
        spare: bool = False,
        on_late: Callable[[str, str], None] | None = None,
        linger_seconds: float | None = None,
        compare_shipped: bool = True,
    ) -> None:
        """Raises Refusal if an option names something that does not exist, or an unreadable environment.

        Args:
            limits: replace the limits of the project's configuration.
            timeout: seconds that each handler may run, whatever the hook sets; 0: no limit.
            spare: keep a spare worker ready beside each running one. For one event loop, until `close`.
            on_late: called with the handler and a text when output or errors arrive after its
                result. For one event loop, as `spare`.
            linger_seconds: how long a run waits at most for work that handlers leave running; the Run
                reports that work. None: wait only in a sandbox, whose copies are removed afterwards.
            compare_shipped: note on each hook where the shipped program differs from the current guide.
        """
        self.options = options
        self._arguments = (trust_all, limits, timeout, spare, linger_seconds, compare_shipped)
        self.setup: Setup = set_up(options)
        self.limits = limits or self.setup.limits
        if timeout is not None:
            self.limits = self.limits.with_limit("run", timeout, COMMAND_LINE_ORIGIN)
        python, node = self.setup.python, self.setup.node
        self.worker_pools = WorkerPools(python, node, self.limits, spare=spare, on_late=on_late)
        self.modules = LoadedModules()
        self._store = TrustStore(state_folder() / "trust.json")
        self.run_record = RunRecord(lambda: self.setup.retention, partial(self.redaction_of, settings=False))
        self.load_record = LoadRecord(
            state_folder() / FAILED_LOADS_FILE, python.path if python else sys.executable
        )
        self._scanner = Scanner(
            self.worker_pools, self.modules, self.load_record, compare_shipped=compare_shipped
        )
        self._trust_all = trust_all
        self._secrets: dict[Secret, None] = {}  # secrets that events got from variables, ordered
        self._active_runs = ActiveRuns(self, linger_seconds)
        if options.environment is not None:
            read_workspace_environment(self.open().workspace, options.environment)

    def with_options(self, options: Options) -> Workbench:
        """Return a new workbench with the same arguments and other options. Raises Refusal."""
        trust_all, limits, timeout, spare, linger_seconds, compare_shipped = self._arguments
        made = Workbench(
            options,
            trust_all=trust_all,
            limits=limits,
            timeout=timeout,
            spare=spare,
            linger_seconds=linger_seconds,
            compare_shipped=compare_shipped,
        )
        made.worker_pools.warn_unprotected = self.worker_pools.warn_unprotected
        return made

    @cached_property
    def edits(self) -> Edits:
        """The edits of users' files, with undo."""
        from hookscope.app.edits import Edits  # a scan edits nothing

        return Edits(self)

    @cached_property
    def filler(self) -> Filler:
        """The filler that replaces variables in events."""
        from hookscope.app.variables import Filler

        return Filler(
            lambda: self.setup.environment, lambda: self.options.env, self.redaction_of, self._secrets
        )

    @property
    def dialect(self) -> Dialect:
        return self.setup.dialect

    def open(self, files: Files | None = None) -> Host:
        """Return the host, with settings and trust read again. `files` replaces its access to the disk."""
        setup = set_up(self.options)
        trust = Trust(everything=True, homes=user_homes()) if self._trust_all else self._store.trust()
        machine = setup.machine if files is None else replace(setup.machine, files=files)
        host = open_host(setup.dialect, machine, setup.overrides, trust=trust)
        return replace(host, problems=host.problems + unreadable_files(host))

    def scan(self) -> Snapshot:
        """Return a snapshot of all hooks as they are now. Imports and runs nothing."""
        return self._scanner.scan(self.open, self.setup, self.limits)

    def stop_scans(self) -> None:
        """Stop the scans that run in other threads. For a program that exits."""
        self._scanner.stop()

    @property
    def shared_state_files(self) -> tuple[Path, ...]:
        """The files with trust and failed loads. Other commands write them too."""
        return self._store.file, self.load_record.file

    def is_outdated(self, view: Snapshot) -> bool:
        """Return whether trust or the failed loads have changed since the snapshot."""
        trusts = not self._trust_all and self._store.trust() != view.host.trust
        return trusts or self.load_record.changed_since(view)

    def use_options(self, options: Options) -> None:
        """Scan with other options from now on; the events' environment stays. Raises Refusal."""
        environment, origin = self.setup.environment, self.setup.environment_from
        setup = replace(set_up(options), environment=environment, environment_from=origin)
        self.setup, self.options = setup, options
        self.worker_pools.use_programs(setup.python, setup.node)

    def use_dialect(self, name: str) -> None:
        """Scan under another dialect from now on. Raises Refusal for an unknown one."""
        self.use_options(replace(self.options, dialect=name, dialect_reason=CHOSEN_IN_CONSOLE))

    def use_environment(self, name: str | None) -> None:
        """Fill events with the variables of this environment from now on; None selects no environment."""
        self.setup = replace(self.setup, environment=name, environment_from="chosen" if name else "")

    def hook(self, view: Snapshot, name: str) -> HookStatus:
        """Return the hook with this name or settings key. Raises Refusal with the closest match."""
        row = view.inventory.find(name)
        if row is None:
            from hookscope.app.unknown_names import no_such_hook

            raise no_such_hook(name, view)
        return row

    def template(self, view: Snapshot, key: str) -> Event:
        """Return a realistic event for a key. Raises Refusal if the key is unknown and has no subscriber."""
        from hookscope.app.unknown_names import check_key

        check_key(view, key)
        return template_event(key, view.host)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that events got from variables so far."""
        return tuple(self._secrets)

    @property
    def redaction(self) -> Redaction:
        """The redaction for everything written to files. Reads the settings and `.env`."""
        return self.redaction_of(self.open())

    def redaction_of(self, host: Host, *, settings: bool = True) -> Redaction:
        """Return the redaction for this host; `settings=False` excludes the settings' secrets."""
        from hookscope.storage.journal.redaction import Redaction

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
        """Return the plan of an event: which handlers run and which do not, each with the reason.

        Args:
            automatic: no user requested this fire, so hooks in quarantine are skipped.
            forced: calls to make although their hooks would not run; see `testing.fire_request`.

        Raises Refusal for an unknown hook, for an event with a secret that was not stored, and for an event
        without fields that its host always sends.
        """
        from hookscope.app.near_misses import with_near_misses

        if only is not None:
            only = self.hook(view, only).hook.name
        event = self.filler.restore_secrets(event, view)
        check_required_fields(event, view.host)
        plan = make_plan(
            event,
            view.registry,
            view.inventory,
            view.host,
            languages=view.languages,
            without=view.unavailable_languages,
            only=only,
            exclusion_of=self.worker_pools.quarantine_reason if automatic else None,
            forced=forced,
            candidates=view.uncalled_hooks,
        )
        return with_near_misses(plan if only is not None else without_taps(plan), view)

    async def load_module(self, view: Snapshot, hook: Hook) -> Module | Failure:
        """Import the module of a plugin or stream hook in its worker; return it or the failure.

        The caller checks that the language is available and the folder trusted.
        """
        executors = self.worker_pools.executors(view.host, view.languages)
        return await self.modules.load_one(hook, view.host, executors.code[hook.language])

    async def load_modules(self, view: Snapshot, kind: EventKind) -> Snapshot:
        """Load the modules whose events or order only a load shows, and return a snapshot with them.

        Folder hooks need no load, unless plugins may subscribe to their events. Imports only trusted
        handlers, in their workers.
        """
        if kind == "folder" and not view.host.dialect.load_rules.plugins_use_folder_events:
            return view
        executors, started = self.worker_pools.executors(view.host, view.languages), time()
        if not await self.modules.load(view.inventory, view.host, executors, kind):
            return view
        rescanned = self.scan()
        registrations = rescanned.registry.registrations
        attempts = load_attempts_for(rescanned.inventory, rescanned.host, registrations)
        await self.record_loads(rescanned.host, attempts, started)
        return rescanned

    async def prestart_workers(self, view: Snapshot, plan: Plan) -> None:
        """Start the workers that this plan will need, before it is fired."""
        import asyncio  # a scan needs no event loop

        self.worker_pools.executors(view.host, view.languages).expect(plan)
        await asyncio.sleep(0)  # the workers have started when this returns

    def fire(self, view: Snapshot, plan: Plan, stepper: Stepper | None = None) -> Firing:
        """Run a plan of this snapshot in worker processes; with a `stepper`, handler by handler."""
        return self._active_runs.start(view, plan, stepper=stepper)

    async def fire_sandboxed(self, view: Snapshot, plan: Plan, stepper: Stepper | None = None) -> Firing:
        """Run a plan on copies of the workspace, the host's state folder and HOME; remove them afterwards.

        Raises OSError if the copies cannot be made.
        """
        return self._active_runs.start(view, plan, await self.open_sandbox(view), stepper=stepper)

    async def fire_debugged(self, view: Snapshot, plan: Plan, debugger: Debugger, *, sandbox: bool) -> Firing:
        """Run a plan in workers of its own, under this debugger and without time limits.

        Raises OSError if the copies for the `sandbox` cannot be made.
        """
        host, languages = view.host, view.languages
        plan = replace(plan, notes=(*plan.notes, DEBUGGED))
        pools = self.worker_pools
        workers = (
            await pools.sandboxed(host, languages, debugger)
            if sandbox
            else pools.for_debugger(host, languages, debugger)
        )
        return self._active_runs.start(view, plan, workers)

    async def open_sandbox(self, view: Snapshot) -> SandboxedWorkers:
        """Make a sandbox for several runs. The caller closes it. Raises OSError."""
        return await self.worker_pools.sandboxed(view.host, view.languages)

    def fire_in_sandbox(self, view: Snapshot, plan: Plan, sandbox: SandboxedWorkers) -> Firing:
        """Run a plan in an open sandbox; the Run reports all changes since its copies were made."""
        return self._active_runs.start(view, plan, sandbox, keeps_copies=True)

    def fire_unrecorded(self, view: Snapshot, plan: Plan, sandbox: SandboxedWorkers | None) -> Firing:
        """Run a plan without recording it, in the sandbox if one is passed. For searches with many runs."""
        return self._active_runs.start(view, plan, sandbox, recorded=False)

    async def record_loads(self, host: Host, attempts: Sequence[LoadAttempt], started: float) -> None:
        """Record failed loads and forget those that load now. Does nothing under a what-if."""
        if not host.machine.assumed:
            await self.load_record.record_attempts(attempts, started, cache(partial(self.redaction_of, host)))

    def trust(self, folder: Path, *, everything_below: bool = False, must_be_real: bool = False) -> Path:
        """Trust a folder and everything below it; return the real path that was recorded.

        Raises Refusal if the folder is too broad, unless `everything_below`; with `must_be_real`, also if
        the path no longer leads to the real folder that the question named.
        """
        machine = self.setup.machine
        path, real = machine.absolute(folder), machine.real(folder)
        if machine.real(path) != real:  # `cd` and other programs resolve it differently
            raise Refusal(
                f"{folder} is ambiguous, {machine.real(path)} or {real}: `..` follows a link.", "Name one."
            )
        if not os.path.isdir(path):
            raise Refusal(f"There is no folder {path}.", "`hookscope list` shows where hooks are.")
        host = self.open()
        target = folder_target(path, host)
        if must_be_real and target.folder != path:
            raise Refusal(f"{path} now leads to {target.folder} instead.", "Nothing was trusted.")
        if target.refusal_reason and not everything_below:
            leads = f"{path} leads to {target.folder}, which" if target.folder != path else f"{path}"
            raise Refusal(
                f"{leads} is too broad to trust, since {target.refusal_reason}.",
                f"Name a hooks folder; `{target.command(machine.short)}` allows everything below it.",
            )
        digests = handler_digests_below(target.folder, host)
        self._store.add(target.folder, digests, everything_below=everything_below)
        return target.folder

    def forget_missing_trusted(self, folders: Iterable[Path]) -> None:
        """Remove the trust in those of these folders that no longer exist, and below them.

        A folder that is created there later is a different one. Raises Refusal if this cannot be recorded.
        """
        self._store.remove(folder for folder in map(Path.resolve, folders) if not os.path.lexists(folder))

    async def wait_for_background_work(self, seconds: float) -> tuple[str, ...]:
        """Wait up to `seconds` for work that handlers left running; return what it did, as sentences."""
        return await self._active_runs.wait_for_background_work(seconds)

    def doctor(self, view: Snapshot) -> tuple[SetupFinding, ...]:
        """Return what was detected, from where, and what is missing."""
        from hookscope.app.doctor import examine_setup  # only `doctor` needs it

        return examine_setup(view, self.setup, self.worker_pools.node(view.host))

    def watch(self, on_change: ChangeCallback) -> Watch:
        """Return a watch that reports changed files from its own thread. The caller closes it."""
        from hookscope.app.watching import Watch

        return Watch(on_change)

    def close_now(self) -> None:
        """Run `close` for a caller without an event loop."""
        import asyncio

        asyncio.run(self.close())

    async def close(self) -> None:
        """Cancel active runs, end all workers, and wait until everything is recorded."""
        await self._active_runs.cancel()
        await self.worker_pools.close()
        await self.run_record.close()
