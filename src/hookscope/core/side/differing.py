"""What the hosts do otherwise with one hook: a sentence for each thing, naming the hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from hookscope.core.bystanders import kind_of
from hookscope.core.side.handlers import stranger_in
from hookscope.core.side.model import ABSENT, NO_HOOK, Cell, Differing, EventThere, Facet, Line
from hookscope.core.side.written import LARGEST
from hookscope.core.standing import State

UNREAD: dict[str, str] = {
    "none": "no metadata is there for {namespace}",
    "elsewhere": "the metadata does not stand under `{namespace}`",
    "unread": "the metadata is in a spelling that is not read",
}


def differing_of(line: Line, turns: Sequence[str]) -> tuple[Differing, ...]:
    """All that is not alike, the most telling first. `turns`: events at which its turn differs."""
    there = [cell for cell in line.cells if cell.there]
    parts: tuple[tuple[Facet, Iterator[str]], ...] = (
        ("found", _found(line)),
        ("handler", _handler(there)),
        ("metadata", _metadata(there)),
        ("state", _state(there)),
        ("why", _why(there)),
        ("winner", _winner(there)),
        ("events", _events(there)),
        ("messages", _messages(there)),
        ("order", iter(turns)),
        ("name", _name(there)),
        ("env", _env(there)),
    )
    return tuple(Differing(facet, text) for facet, texts in parts for text in texts)


def _found(line: Line) -> Iterator[str]:
    states = {cell.state if cell.state in (ABSENT, NO_HOOK) else "" for cell in line.cells}
    if len(states) == 1:
        return
    have = next((cell for cell in line.cells if cell.row is not None), None)
    for called, why in _told(line.cells, lambda cell: None if cell.there else _not_found(cell, have)):
        yield f"{called}: {why}"


def _not_found(cell: Cell, have: Cell | None) -> str:
    if cell.rejected is not None:
        handler = stranger_in(cell)
        return f"no hook: {handler} is not looked for" if handler else f"no hook: {cell.why}"
    if have is None or have.row is None:
        return "not looked at"
    hook = have.row.hook
    if kind_of(hook) not in cell.side.dialect.kinds:
        return f"there are no {kind_of(hook)} hooks"
    if hook.kind == "legacy":
        return "its settings list no such handler"
    return f"nothing is looked for in {cell.side.host.surroundings.short(hook.folder.path)}"


def _handler(there: Sequence[Cell]) -> Iterator[str]:
    strangers = [cell for cell in there if not cell.host_runs]
    if strangers and len(strangers) < len(there):
        yield f"{_names(strangers)}: only Hookscope runs it, the host runs no Python"
    paths = {cell.path for cell in there}
    if len(paths) == 1:
        yield from _apart(there, lambda cell: cell.handler.name if cell.handler else "none", "{} is loaded")


def _metadata(there: Sequence[Cell]) -> Iterator[str]:
    if len({cell.metadata for cell in there}) < 2:
        return
    for called, why in _told(there, _unread):
        yield f"{called}: {why}"


def _unread(cell: Cell) -> str | None:
    reads = cell.side.reads
    template = UNREAD.get(cell.metadata)
    if template is None or reads is None:
        return None
    note = next((text for text in cell.row.hook.meta.notes if "read" in text), "") if cell.row else ""
    return note or template.format(namespace=reads.namespace)


def _state(there: Sequence[Cell]) -> Iterator[str]:
    if len({cell.state for cell in there}) < 2:
        return
    told = list(_told(there, _stands))
    if any(words != State.READY for _, words in told):
        yield from (f"{called}: {words}" for called, words in told)


def _stands(cell: Cell) -> str | None:
    if cell.metadata in UNREAD and cell.gate == "events":
        return None  # said by what is read of the metadata
    if cell.state == State.SILENT:
        return None  # said by the events
    if cell.state == State.SHADOWED:
        return "another copy wins"
    return f"{cell.state}, {cell.why}" if cell.why else cell.state


def _why(there: Sequence[Cell]) -> Iterator[str]:
    """The same state for other reasons."""
    if len({cell.state for cell in there}) != 1 or len({cell.gate for cell in there}) < 2:
        return
    for called, words in _told(there, lambda cell: cell.why or None):
        yield f"{called}: {words}"


def _winner(there: Sequence[Cell]) -> Iterator[str]:
    if len({cell.path for cell in there}) > 1:
        yield from _apart(there, _copy, "{} counts")


def _copy(cell: Cell) -> str:
    short = cell.side.host.surroundings.short
    return f"the {cell.source} copy in {short(cell.path)}" if isinstance(cell.path, Path) else cell.source


def _events(there: Sequence[Cell]) -> Iterator[str]:
    hears = [cell for cell in there if cell.events]
    if len({tuple(event.key for event in cell.events) for cell in hears}) > 1:
        yield from _apart(
            hears, lambda cell: ", ".join(event.key for event in cell.events), "it listens to {}"
        )
    for key in dict.fromkeys(event.key for cell in hears for event in cell.events):
        if len({event.there for cell in hears if (event := _of(cell, key)) is not None}) < 2:
            continue
        for called, words in _told(hears, partial(_unsent_of, key)):
            yield f"{called}: {words}"


def _unsent_of(key: str, cell: Cell) -> str | None:
    return _unsent(_of(cell, key))


def _of(cell: Cell, key: str) -> EventThere | None:
    return next((event for event in cell.events if event.key == key), None)


def _unsent(event: EventThere | None) -> str | None:
    if event is None or event.there == "sent":
        return None
    if event.there == "never":
        return f"{event.key} is never sent"
    meant = f"; did you mean {event.near}?" if event.near else ""
    return f"there is no event {event.key}{meant}"


def _messages(there: Sequence[Cell]) -> Iterator[str]:
    for key in dict.fromkeys(event.key for cell in there for event in cell.events):
        sent = [
            (cell, event) for cell in there if (event := _of(cell, key)) is not None and event.there == "sent"
        ]
        deaf = [cell for cell, event in sent if not event.delivers]
        if deaf and any(map(_pushes, deaf)) and len(deaf) < len(sent):
            yield f"{_names(deaf)}: what is pushed to `messages` on {key} reaches nobody"


def _pushes(cell: Cell) -> bool:
    """Does its handler speak of messages at all. False where that cannot be read."""
    if cell.handler is None:
        return False
    try:
        return b"messages" in cell.side.host.surroundings.files.read(cell.handler, LARGEST)
    except OSError:
        return False


def _name(there: Sequence[Cell]) -> Iterator[str]:
    yield from _apart(there, lambda cell: cell.row.hook.name if cell.row else "", "its name is {}")


def _env(there: Sequence[Cell]) -> Iterator[str]:
    given = [cell for cell in there if cell.row is not None and cell.side.host.entry_env(cell.row.hook.key)]
    without = [cell for cell in given if not cell.side.dialect.entry_env]
    if without and len(without) < len(there):
        yield f"{_names(without)}: the `env` of its entry does not reach its handler"


def _apart(cells: Sequence[Cell], value: Callable[[Cell], str], words: str) -> Iterator[str]:
    """A sentence for each value, where there is more than one."""
    if len({value(cell) for cell in cells}) > 1:
        for called, told in _told(cells, value):
            yield f"{called}: {words.format(told)}"


def _told(cells: Sequence[Cell], words: Callable[[Cell], str | None]) -> Iterator[tuple[str, str]]:
    """Each sentence once, with the hosts that it holds for."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        text = words(cell)
        if text is not None:
            groups.setdefault(text, []).append(cell)
    for text, group in groups.items():
        yield _names(group), text


def _names(cells: Sequence[Cell]) -> str:
    return ", ".join(cell.side.called for cell in cells)
