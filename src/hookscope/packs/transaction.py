"""Folders, settings and records changed at once: all of it, or nothing, whenever somebody pulls the plug.

What is new is staged beside where it goes. Then the intent is written down, and from there on it is
finished: by us, or by whoever comes next. Only what cannot be finished is taken back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.changes import Change, ChangeError, apply, read_settled, remove_empty
from hookscope.changes.files import Step, lock_beside, no_step, real_path, sync_folder
from hookscope.packs.below import remove
from hookscope.packs.edits import made, unmade
from hookscope.packs.errors import PackError, reason_of
from hookscope.packs.journal import Intent, read_intent, write_intent
from hookscope.packs.record import Book
from hookscope.packs.tree import PackFile
from hookscope.values import dataclass

STEPS = (
    "intend", "stage", "staged", "commit", "aside", "place", "settings", "records", "keep", "clean", "forget",
    "done",
)  # fmt: skip
GOING_ON, LATER = "Another install, update or uninstall is going on.", "Try again after it."
PATIENCE = 10.0  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class Store:
    """Hookscope's own folder for packs: who is installed, and what is being done."""

    folder: Path

    @property
    def book(self) -> Book:
        """The record of what is installed."""
        return Book(self.folder / "installed.json")

    @property
    def journal(self) -> Path:
        """Where a transaction that is under way is written down."""
        return self.folder / "journal.json"

    @property
    def kept(self) -> Path:
        """Where files are kept that an update or uninstall found changed."""
        return self.folder / "kept"

    @contextmanager
    def locked(self, patience: float = PATIENCE) -> Iterator[None]:
        """One transaction at a time. Raises PackError where another goes on."""
        from filelock import FileLock  # here: a look locks nothing, and this loads asyncio

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=patience, poll_interval=0.02)
        except TimeoutError:
            raise PackError(GOING_ON, LATER) from None
        try:
            yield
        finally:
            lock.release()


Finished = Callable[[Intent], Intent]
"""Told when all is staged: what more is known then, the files' digests in the records."""


def carry_out(
    store: Store,
    intent: Intent,
    trees: Mapping[Path, Mapping[str, PackFile]],
    *,
    check: Callable[[], None] = lambda: None,
    staged: Finished = lambda intent: intent,
    step: Step = no_step,
) -> None:
    """Do all of it. Raises PackError, ChangeError or OSError; then nothing has changed.

    Args:
        trees: by `fresh` of a swap, the files that it has.
        check: raises where what the intent was made from is no longer so; under the lock.
        staged: may change the staged folders, and complete the intent.
    """
    with store.locked():
        finish_interrupted(store)
        check()
        step("intend")
        write_intent(store.journal, intent)
        try:
            step("stage")
            _stage(intent, trees)
            step("staged")
            intent = replace(staged(intent), phase="commit")
            step("commit")
            write_intent(store.journal, intent)
        except BaseException:
            _clean(store, intent, intent.made, no_step)
            raise
        _finish_or_back(store, intent, step)


def recover(store: Store) -> str:
    """Finish what a killed process has left, unless another is at it now. What came of it; mostly empty.

    Raises PackError where it can neither be finished nor taken back.
    """
    if not store.journal.exists():
        return ""
    with ExitStack() as stack:
        try:
            stack.enter_context(store.locked(0))
        except PackError:
            return ""  # somebody alive is at it
        return finish_interrupted(store)


def finish_interrupted(store: Store) -> str:
    """Under the lock: a sentence where something was interrupted. Raises PackError."""
    try:
        intent = read_intent(store.journal)
    except ValueError:
        raise PackError(
            f"{store.journal} tells of an interrupted install and cannot be read.",
            "Move it away, and look at the hooks folder.",
        ) from None
    if intent is None:
        return ""
    try:
        if intent.phase == "commit":
            return _finished_or_not(store, intent)
        if intent.phase == "back":
            _back(store, intent)
        else:
            _clean(store, intent, intent.made if intent.phase == "staging" else intent.empty, no_step)
    except (ChangeError, OSError) as error:
        raise PackError(
            f"An interrupted {intent.what} cannot be finished: {reason_of(error)}.",
            "The next of these commands tries again.",
        ) from None
    done = "was finished" if intent.phase == "clean" else "was taken back"
    return f"An interrupted {intent.what} {done} first."


def _finished_or_not(store: Store, intent: Intent) -> str:
    try:
        _finish_or_back(store, intent, no_step)
    except ChangeError as error:
        return f"An interrupted {intent.what} was taken back: {error}"
    return f"An interrupted {intent.what} was finished first."


# Staging


def _stage(intent: Intent, trees: Mapping[Path, Mapping[str, PackFile]]) -> None:
    for folder in intent.staging:
        folder.mkdir(parents=True)
    for root, files in trees.items():
        root.mkdir()
        for path, file in files.items():
            _write(root / path, file)


def _write(path: Path, file: PackFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
    with os.fdopen(handle, "wb") as opened:
        opened.write(file.content)
        opened.flush()
        os.fsync(opened.fileno())


# Finishing


def _finish_or_back(store: Store, intent: Intent, step: Step) -> None:
    try:
        _finish(store, intent, step)
    except (ChangeError, OSError):
        _back(store, intent)
        raise
    try:
        _keep(intent, step)
    except OSError as error:
        raise PackError(
            f"The {intent.what} is done, but files that had changed cannot be kept: {reason_of(error)}.",
            "They wait beside it until the next of these commands can.",
        ) from None
    noted = _noted(store, replace(intent, phase="clean"))
    _clean(store, intent, intent.empty, step, noted=noted)


def _noted(store: Store, intent: Intent) -> bool:
    """Write down how far it is. Not where a disk is full: whoever comes later does the same parts again."""
    try:
        write_intent(store.journal, intent)
    except OSError:
        return False
    return True


def _finish(store: Store, intent: Intent, step: Step) -> None:
    """Each part may have been done already, by somebody who was killed then."""
    for swap in intent.swaps:
        step("aside")
        waits = swap.fresh is None or os.path.lexists(swap.fresh)
        if waits and os.path.lexists(swap.target) and not os.path.lexists(swap.aside):
            os.rename(swap.target, swap.aside)
        step("place")
        if swap.fresh is not None and os.path.lexists(swap.fresh):
            os.rename(swap.fresh, swap.target)
        sync_folder(swap.target.parent)
    step("settings")
    exact = _write_settings(intent)
    step("records")
    records = {name: record and _trusting(record, exact) for name, record in intent.records.items()}
    store.book.put(intent.host, records)


def _trusting(record: Mapping[str, Any], exact: bool) -> Mapping[str, Any]:
    """What a record says of the whole settings file holds only where nobody else was at it."""
    return record if exact else {**record, "snapshot": None}


def _write_settings(intent: Intent) -> bool:
    """Is the file then what the intent says; False: somebody has changed it, and it has our edits too."""
    if intent.file is None or intent.old == intent.new:
        return True
    now = read_settled(intent.file)
    if now == intent.new:
        return True
    if now == intent.old:
        _apply(Change(intent.file, intent.what, now, intent.new))
        return True
    source, _ = unmade(now, intent.unset)
    source, _ = made(source, intent.wanted)
    _apply(Change(intent.file, intent.what, now, source))
    return False


def _apply(change: Change) -> None:
    """Under the lock that every edit of a settings file takes; one that was not there before goes again."""
    lock = lock_beside(real_path(change.path))
    alone = not os.path.lexists(lock)
    try:
        apply(change)
    finally:
        if alone:
            lock.unlink(missing_ok=True)


def _keep(intent: Intent, step: Step) -> None:
    step("keep")
    for one, to in intent.keep:
        if os.path.lexists(one) and not os.path.islink(to):  # a link was kept by somebody killed then
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(one, to, follow_symlinks=False)


def _clean(store: Store, intent: Intent, empty: Iterable[Path], step: Step, *, noted: bool = True) -> None:
    """`noted`: the journal says that only this is left; else nobody may take half of it for all of it."""
    step("clean")
    if not noted:
        store.journal.unlink(missing_ok=True)
    for folder in intent.staging:
        remove(folder)
    remove_empty(empty)
    step("forget")
    store.journal.unlink(missing_ok=True)
    sync_folder(store.folder)
    step("done")


def _back(store: Store, intent: Intent) -> None:
    """As it was. Each part may never have been done."""
    _noted(store, replace(intent, phase="back"))
    for swap in reversed(intent.swaps):
        if swap.fresh is not None and not os.path.lexists(swap.fresh) and os.path.lexists(swap.target):
            os.rename(swap.target, swap.fresh)
        if os.path.lexists(swap.aside):
            os.rename(swap.aside, swap.target)
    if intent.file is not None and intent.old != intent.new:
        with suppress(ChangeError):
            if read_settled(intent.file) == intent.new:
                _apply(Change(intent.file, f"undo: {intent.what}", intent.new, intent.old))
    noted = _noted(store, replace(intent, phase="clean", empty=intent.made))
    _clean(store, intent, intent.made, no_step, noted=noted)
