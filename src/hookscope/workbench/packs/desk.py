"""The desk of packs: what is installed, what an install would do, and doing it.

Planning fetches and checks, and writes nothing of the host's; carrying out is one transaction. Both block
and may be called from any thread; a Progress follows and stops them.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hookscope.changes import Change, read_now, remove_empty
from hookscope.changes.files import Step, no_step
from hookscope.core.dialect import Host
from hookscope.core.installs import HostInstall, host_installs
from hookscope.core.text import as_typed, nearest
from hookscope.helpers import user_environment
from hookscope.packs.below import remove
from hookscope.packs.fetched import Fetched, Fetching
from hookscope.packs.journal import Intent
from hookscope.packs.npm import install_dependencies
from hookscope.packs.package import package_json_of
from hookscope.packs.progress import QUIETLY, Progress
from hookscope.packs.record import Record
from hookscope.packs.sources import fetch
from hookscope.packs.specs import Spec, spec_of
from hookscope.packs.standing import OnDisk, digests_of, standing_of
from hookscope.packs.transaction import GOING_ON, LATER, Store, carry_out, recover
from hookscope.packs.tree import DEPENDENCIES, Tree
from hookscope.values import dataclass
from hookscope.workbench.bench import Workbench
from hookscope.workbench.packs.incoming import Incoming
from hookscope.workbench.packs.intents import intent_of
from hookscope.workbench.packs.placing import Trees, placed, read_hooks, rules_of
from hookscope.workbench.packs.planned import Done, Planned, UpToDate
from hookscope.workbench.packs.planning import Asked, id_of, name_of, package_in, plan_copy, plan_install
from hookscope.workbench.packs.refusals import check_accepted, not_ours, refusing
from hookscope.workbench.packs.removing import plan_uninstall
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.state_files import state_folder

ONLY_NPM = "--pin is only supported with npm registry installs."


@dataclass(frozen=True, slots=True)
class PackStatus:
    """One installed pack, and how it stands on disk."""

    record: Record
    on_disk: OnDisk


class PackDesk:
    """Packs of the host that a workbench has open."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.store = Store(state_folder() / "packs")

    def of_host(self) -> tuple[HostInstall, ...]:
        """What the host has installed itself, as its settings say, and is not of ours."""
        ours = self.installed()
        return tuple(one for one in host_installs(self._bench.open()) if one.id not in ours)

    def installed(self) -> Mapping[str, Record]:
        """What is installed for this host, oldest first. Raises Refusal where the record cannot be read."""
        with refusing():
            return self.store.book.all(self._bench.open().state)

    def recover(self) -> str:
        """Finish what was interrupted: a sentence that says so, mostly empty. Raises Refusal."""
        with refusing():
            self._sweep()
            return recover(self.store)

    def statuses(self) -> tuple[PackStatus, ...]:
        """Every pack with how it stands. Reads all their files."""
        return tuple(PackStatus(record, standing_of(record)) for record in self.installed().values())

    def record(self, name: str) -> Record:
        """The pack of that id, or the one that was installed by that name. Raises Refusal."""
        known = self.installed()
        if name not in known:
            same = [one for one in known.values() if name == one.origin or one.origin.startswith(f"{name}@")]
            if len(same) == 1:
                return same[0]
            holding = next((one for one in known.values() if name in one.hooks), None)
            if holding is not None:
                raise Refusal(
                    f"{name!r} is a hook of the pack {holding.id}.", f"Name {holding.id}: it goes as a whole."
                )
            theirs = next((one for one in self.of_host() if name in (one.id, one.spec, *one.hooks)), None)
            if theirs is not None:
                raise not_ours(theirs, self._bench.open())
            near = nearest(name, known)
            then = f"Did you mean {near}?" if near else "`hookscope packs` lists what is."
            raise Refusal(f"No pack {name!r} is installed here.", then)
        return known[name]

    # Planning

    def spec(self, text: str) -> Spec:
        """What a text names. Raises Refusal."""
        with refusing():
            return spec_of(text, self._bench.setup.surroundings.absolute)

    def plan_install(self, text: str, asked: Asked = Asked(), progress: Progress = QUIETLY) -> Planned:  # noqa: B008
        """Fetch and check it, and say what an install would do. Raises Refusal."""
        with refusing():
            host = self._host()
            spec = self.spec(text)
            if asked.pin and spec.source != "npm":
                raise Refusal(ONLY_NPM, f"{spec.text} has no version that a registry keeps.")
            if asked.link and asked.dependencies:
                raise Refusal(
                    "A linked folder is used as it is: nothing is installed into it.",
                    "Leave out --link or --dependencies.",
                )
            if asked.link and spec.source != "folder":
                raise Refusal("Only folders are linked.", "Leave out --link to install a copy.")
            fetched = self._fetch(spec, progress)
            progress.step("reading its hooks")
            known = self.installed()
            try:
                return plan_install(fetched, host, self._bench.look().inventory, known, asked)
            except Refusal:
                self._check_alone(known)
                raise

    def plan_update(
        self, name: str, *, force: bool = False, progress: Progress = QUIETLY
    ) -> Planned | UpToDate:
        """What an update would do. `force`: put it in place again even if there is nothing newer."""
        with refusing():
            host, record = self._host(), self.record(name)
            spec = self._spec_again(record)
            if record.linked is not None:
                return UpToDate(record, "it is linked: its folder is used as it is")
            fetched = self._fetch(spec, progress)
            on_disk = standing_of(record)
            if fetched.integrity == record.integrity and not force:
                return UpToDate(record, "nothing newer", on_disk)
            asked = Asked(force=True, pin=record.pinned, dependencies=record.dependencies)
            package = package_in(fetched, host, asked)
            hooks = read_hooks(package, host, name_of(fetched))
            now = id_of(fetched, package, hooks)
            if now != record.id:
                raise Refusal(
                    f"{record.origin} is now called {now}.",
                    f"`hookscope uninstall {record.id}`, then install it under its new name.",
                )
            progress.step("comparing")
            view = self._bench.look()
            incoming = Incoming(fetched, package, hooks, now, record)
            return plan_copy(incoming, host, view.inventory, self.installed(), asked)

    def _spec_again(self, record: Record) -> Spec:
        """What it was installed from. Raises Refusal where that is a path with nothing at it any more."""
        if record.source in ("folder", "archive") and not os.path.lexists(record.spec):
            raise Refusal(
                f"{record.id} was installed from {record.origin}, and nothing is there any more.",
                f"Put it back, or `hookscope uninstall {as_typed(record.id)}`.",
            )
        return spec_of(record.spec, self._bench.setup.surroundings.absolute)

    def plan_uninstall(self, name: str) -> Planned:
        """What taking a pack away would do. Raises Refusal."""
        with refusing():
            record = self.record(name)
            view = self._bench.look()
            return plan_uninstall(record, view.host, view.inventory, self.installed())

    def as_installed(self, name: str, progress: Progress = QUIETLY) -> Trees:
        """The files of a pack by where they go, fetched again at the version that was. Raises Refusal."""
        with refusing():
            host, record = self._host(), self.record(name)
            text = record.spec
            if record.source == "npm":
                text = record.resolved
            elif record.source == "git":
                text = f"{text.partition('#')[0]}#{record.resolved}"
            fetched = self._fetch(spec_of(text, self._bench.setup.surroundings.absolute), progress)
            package = package_in(fetched, host, Asked())
            return placed(package, read_hooks(package, host, name_of(fetched)), host).trees

    def _check_alone(self, known: Mapping[str, Record]) -> None:
        """Raises Refusal where another process is at the packs: what was seen on disk was half of that."""
        if self.store.journal.exists() or self.installed().keys() != known.keys():
            raise Refusal(GOING_ON, LATER)

    def _host(self) -> Host:
        host = self._bench.open()
        rules_of(host)
        return host

    def _fetch(self, spec: Spec, progress: Progress) -> Fetched:
        with self._work() as work:
            return fetch(spec, self._fetching(work, progress, spec))

    def _fetching(self, work: Path, progress: Progress, spec: Spec | None) -> Fetching:
        """Return how programs are run: none that the workspace or the pack brings, in a folder of its own."""
        host = self._bench.open()
        pack = spec.path if spec is not None else None
        project = tuple(filter(None, (host.workspace, host.surroundings.cwd, pack)))
        python = self._python() if spec is not None and spec.source == "python" else sys.executable
        return Fetching(work, user_environment(project), python, progress, project=project)

    def _python(self) -> str:
        """The interpreter whose packages are meant. Raises Refusal where its workspace is not trusted."""
        host = self._bench.open()
        python = self._bench.crew.python(host)
        named = self._bench.setup.python
        if python is None and named is not None:
            raise Refusal(f"{named.not_trusted}.", f"{named.way_out}.")
        return python or sys.executable

    @contextmanager
    def _work(self) -> Iterator[Path]:
        """A folder for what is fetched. Its name begins with whose it is."""
        self._sweep()
        folder = self.store.folder / "work" / f"{os.getpid()}-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            remove(folder)
            remove_empty([folder.parent, self.store.folder, state_folder()])

    def _sweep(self) -> None:
        """Remove what killed processes were fetching."""
        with suppress(OSError):
            for folder in (self.store.folder / "work").iterdir():
                if not _is_alive(folder.name.partition("-")[0]):
                    remove(folder)

    # Doing

    def carry_out(
        self,
        planned: Planned,
        progress: Progress = QUIETLY,
        step: Step = no_step,
        *,
        accept_changed: bool = False,
    ) -> Done:
        """Write all that was planned, or nothing. Raises Refusal; then nothing was written.

        Args:
            step: called before each step of the transaction; for tests.
            accept_changed: also where `planned.unaccepted` says that an integrity check failed.
        """
        check_accepted(planned, accepted=accept_changed)
        host = self._bench.open()
        stamp = f"{planned.id}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        kept = self.store.kept / stamp
        intent, trees = intent_of(planned, host.state, kept)
        self._distrust(planned)
        progress.step(f"{planned.action} {planned.id}")
        with refusing():
            carry_out(
                self.store,
                intent,
                trees,
                check=lambda: self._check(planned, host.state),
                staged=lambda intent: self._staged(planned, intent, progress),
                step=step,
            )
        self._bench.edits.note(planned.id, Change(planned.change.path, intent.what, None, None))
        with suppress(Refusal):  # before something else comes there it is forgotten
            self._distrust(planned)
        record = self.store.book.all(host.state).get(planned.id)
        return Done(planned, record, kept if planned.on_disk.to_keep else None)

    def _distrust(self, planned: Planned) -> None:
        """Where no folder of the pack stands now, nothing that comes there is trusted. Raises Refusal."""
        records = [record for record in (planned.before, planned.after) if record is not None]
        self._bench.distrust_gone(folder for record in records for folder in (*record.folders, *record.made))

    def _check(self, planned: Planned, state: Path) -> None:
        """Is everything as it was when this was planned. Raises Refusal."""
        now = self.store.book.all(state).get(planned.id)
        same = _document(now) == _document(planned.before)
        if same and planned.before is not None:
            same = standing_of(planned.before) == planned.on_disk
        mine = planned.before.folders if planned.before is not None else {}
        taken = [target for target in planned.trees if target not in mine and os.path.lexists(target)]
        if not same or taken or read_now(planned.change.path) != planned.change.old:
            what = taken[0] if taken else planned.change.path if same else planned.id
            raise Refusal(f"{what} has changed since this was planned; nothing was written.", "Try again.")

    def _staged(self, planned: Planned, intent: Intent, progress: Progress) -> Intent:
        """With its dependencies beside it, and their digests on record."""
        if planned.after is None or not planned.dependencies or not planned.needs:
            progress.check()
            return intent
        folders = {}
        spec = planned.fetched.spec if planned.fetched is not None else None
        for swap in intent.swaps:
            package_json = package_json_of(Tree(planned.trees.get(swap.target, {})))
            if swap.fresh is not None and package_json:
                with self._work() as work:
                    target = swap.fresh / DEPENDENCIES
                    install_dependencies(package_json, target, self._fetching(work, progress, spec))
            if swap.fresh is not None:
                folders[swap.target] = dict(digests_of(swap.fresh))
        document = replace(planned.after, folders=folders).document()
        return replace(intent, records={**intent.records, planned.id: document})


def _document(record: Record | None) -> object:
    return None if record is None else record.document()


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
