"""What there is to be completed: looked up, and nothing run or loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from hookscope.core.text import one_line
from hookscope.workbench import Options, Workbench
from hookscope.workbench.packs.book import installed_here

RUNS = 20  # that are offered
ABOUT = 60  # characters of what is said of a word
UNSAFE = frozenset(" \t\n\"'`$\\;&|<>()*?[]{}!#")  # a shell would read a name with one of them otherwise


class Word(NamedTuple):
    """A word, and what is said of it."""

    text: str
    about: str = ""


def words(found: Iterable[tuple[str, str]]) -> tuple[Word, ...]:
    """Each word once, those alone that a shell reads as they stand."""
    kept: dict[str, str] = {}
    for text, about in found:
        if text and text.isprintable() and not UNSAFE & {*text} and not text.startswith(("-", "~")):
            kept.setdefault(text, one_line(about, ABOUT))
    return tuple(Word(*item) for item in kept.items())


def hooks(options: Options) -> tuple[Word, ...]:
    """Hooks by name, with state and source."""
    view = Workbench(options).look()
    return words(
        (row.hook.name, f"{row.state.value}, {row.hook.folder.source}") for row in view.inventory.hooks
    )


def events(options: Options) -> tuple[Word, ...]:
    """The event keys that can be fired here."""
    return words((key, "") for key in Workbench(options).look().keys)


def events_and_saved(options: Options) -> tuple[Word, ...]:
    """Event keys, and what can be fired by the name of its file."""
    from hookscope.workbench.saved import saved_listing

    view = Workbench(options).look()
    cwd = view.host.surroundings.cwd

    def all_of() -> Iterator[tuple[str, str]]:
        yield from ((key, "") for key in view.keys)
        for row in saved_listing(view.host.workspace):
            if row.file.is_relative_to(cwd) and not row.problem:
                yield str(row.file.relative_to(cwd)), f"saved {row.key}"

    return words(all_of())


def dialects(options: Options) -> tuple[Word, ...]:
    """Dialects by name."""
    from hookscope.workbench.making.offers import dialect_names

    return words((name, "") for name in dialect_names())


def environments(options: Options) -> tuple[Word, ...]:
    """The environments of the workspace."""
    from hookscope.workbench.environments import environments_of

    return words((name, "") for name in environments_of(Workbench(options).open().workspace))


def sequences(options: Options) -> tuple[Word, ...]:
    """Sequences of the host and the workspace, with what is wrong with them."""
    from hookscope.workbench.sequences import sequences_of

    host = Workbench(options).open()
    return words((row.name, row.problem) for row in sequences_of(host.workspace, host.dialect))


def runs(options: Options) -> tuple[Word, ...]:
    """The last runs by number, with their outcome. Raises OSError."""
    bench = Workbench(options)
    stored = bench.journal(bench.open()).recent(RUNS)
    return words((str(run.id), f"{run.key} {run.outcome}") for run in stored)


def packs(options: Options) -> tuple[Word, ...]:
    """Installed packs by id, with version and source."""
    known = installed_here(Workbench(options).open())
    return words((record.id, f"{record.version} {record.source}") for record in known)


FOUND: Mapping[str, Callable[[Options], tuple[Word, ...]]] = {
    "hooks": hooks,
    "events": events,
    "events and saved": events_and_saved,
    "dialects": dialects,
    "environments": environments,
    "sequences": sequences,
    "runs": runs,
    "packs": packs,
}
