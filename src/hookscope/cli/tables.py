"""Lists of hooks for people: aligned plain text. Everything foreign passes `one_line` or `printable`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.cli.cells import coloured, column, fitted, state_word
from hookscope.cli.folding import beside, folded
from hookscope.cli.one_hook import events_of, shut_lines
from hookscope.cli.orphan_lines import left_over
from hookscope.core.compare import READS
from hookscope.core.hooks import Folder
from hookscope.core.inventory import Inventory, Rejected
from hookscope.core.standing import Standing, State
from hookscope.core.text import one_line, printable
from hookscope.workbench import View
from hookscope.workbench.documents import problem
from hookscope.workbench.failed_loads import tries_again
from hookscope.workbench.slips import hint_of

if TYPE_CHECKING:
    pass


def inventory(view: View, *, verbose: bool = False, found: Inventory | None = None) -> str:
    """`list`: hooks grouped by the folder that they come from, highest first; `verbose`: with shut checks.

    `found`: all that the look found, where the view has less of it.
    """
    rows = view.inventory.hooks
    held = {id(row.hook.folder) for row in (found or view.inventory).hooks}
    names = column((one_line(row.hook.name) for row in rows), 32)
    events = column((events_of(row) for row in rows), 30)
    lines = [headline(view), *problems(view)]
    for source, folder, group, rejects in groups(view):
        lines += ["", _folder_line(source, folder, view, bool(group or rejects), id(folder) in held)]
        for row in group:
            lines += [*_row(row, names, events, view), *(shut_lines(row, view) if verbose else ())]
        lines += [
            f"  {_rejected_word(item)}  {one_line(item.path.name)}: {one_line(item.reason)}"
            for item in rejects
        ]
    lines += left_over(view, found)
    return folded(lines)


def headline(view: View) -> str:
    """Whose rules, where, on which settings."""
    host = view.host
    short = host.surroundings.short
    settings = printable(short(host.settings.file)) if host.settings.exists else "none yet"
    settings = f" · settings {settings}" if host.dialect.layout.settings else ""
    workspace = printable(short(host.workspace))
    return f"{host.dialect.name} ({printable(view.because)}) · workspace {workspace}{settings}"


def problems(view: View) -> list[str]:
    """A line for each file or folder that could not be read."""
    return [f"! {one_line(problem(item), 400)}" for item in view.inventory.problems]


def groups(view: View) -> Iterator[tuple[str, Folder | None, list[Standing], list[Rejected]]]:
    """The host's folders, highest rank first, each with its hooks and its rejected; legacy last."""
    at: dict[Path, list[Folder]] = {}
    for folder in view.folders:
        at.setdefault(folder.path, []).append(folder)
    homes = [(item, _home_of(item, at)) for item in view.inventory.rejected]
    known = set(view.host.folders)
    hooks: dict[int, list[Standing]] = {}  # by the identity of their folder, as two may be equal
    at_home: dict[int, list[Rejected]] = {}
    for row in view.inventory.hooks:
        hooks.setdefault(id(row.hook.folder), []).append(row)
    for item, home in homes:
        at_home.setdefault(id(home), []).append(item)
    for folder in sorted(view.folders, key=lambda folder: -folder.rank):
        yield folder.source, folder, hooks.get(id(folder), []), at_home.get(id(folder), [])
    rest = [row for row in view.inventory.hooks if row.hook.folder not in known]
    homeless = at_home.get(id(None), [])
    for source in dict.fromkeys([*(row.hook.folder.source for row in rest), *(i.source for i in homeless)]):
        rows = [row for row in rest if row.hook.folder.source == source]
        yield source, None, rows, [item for item in homeless if item.source == source]


def _home_of(item: Rejected, folders: Mapping[Path, Sequence[Folder]]) -> Folder | None:
    """The innermost folder that it lies in, were it several levels down; None for what only settings name."""
    around = next((folders[path] for path in (item.path, *item.path.parents) if path in folders), ())
    return max(around, key=lambda folder: folder.source == item.source, default=None)


def _folder_line(source: str, folder: Folder | None, view: View, filled: bool, held: bool) -> str:
    if folder is None:
        return source
    empty = "none eligible" if held else "no hooks"
    note = "" if filled else f"  ({empty})" if folder.real is not None else "  (absent)"
    return f"{source}  {printable(view.host.surroundings.short(folder.path))}{note}"


def _row(row: Standing, names: int, events: int, view: View) -> list[str]:
    name = fitted(one_line(row.hook.name), names)
    why = one_line(_why(row, view.host.surroundings.short) or _failed(row, view) or hint_of(row, view), 300)
    return beside(f"  {state_word(view.stands(row))}  {name}  {fitted(events_of(row), events)}", why)


def _why(row: Standing, shown: Callable[[Path], str] = str) -> str:
    """Why it would not run; and of one without events, that its program finds some all the same."""
    why = row.verdict.why(shown)
    read = next((one for one in row.differs if f": {READS}" in one), "")
    return f"{why}; {read}" if why and read else why


def _failed(row: Standing, view: View) -> str:
    """Of a hook whose checks are open: that its file did not load, and what tries again."""
    failed = view.failed_loads.get(row.hook)
    return "" if failed is None else f"{failed.why}; {tries_again(row.hook.name)}"


def _rejected_word(item: Rejected) -> str:
    return fitted("– ignored", 11) if item.ignored else _broken_word()


def _broken_word() -> str:
    text = fitted("✗ no hook", 11)
    return click.style(text, fg="red") if coloured() else text


def check(view: View, *, verbose: bool = False) -> str:
    """`check`: how many in each state, and every reason; `verbose`: each shut check."""
    rows = view.inventory.hooks
    counts = [(state, [row for row in rows if view.stands(row) is state]) for state in reversed(State)]
    lines = [headline(view), *problems(view), ""]
    lines += [f"  {state_word(state)} {len(group):>4}" for state, group in counts if group]
    rejects = [item for item in view.inventory.rejected if not item.ignored]
    lines += [f"  {_broken_word()} {len(rejects):>4}"] if rejects else []
    stopped = [row for row in rows if row.state not in (State.READY, State.SHADOWED)]
    ready = [row for row in rows if row.state is State.READY]
    hints = [(row, hint) for row in ready if (hint := _failed(row, view) or hint_of(row, view))]
    if stopped or rejects or hints:
        lines.append("")
    for row in stopped:
        lines.append(f"  {one_line(row.hook.name)}: {one_line(_why(row), 300)}")
        lines += shut_lines(row, view) if verbose else []
    lines += [f"  {one_line(row.hook.name)}: {one_line(hint, 300)}" for row, hint in hints]
    lines += [f"  {one_line(item.path.name)}: {one_line(item.reason, 300)}" for item in rejects]
    lines += left_over(view)
    return folded(lines)
