"""What there is to be completed: looked up, and nothing run or loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookscope.core.dialect import Host
from hookscope.core.text import one_line
from hookscope.workbench import Options, Workbench
from hookscope.workbench.packs.book import installed_here

RUNS = 20  # that are offered
ABOUT = 60  # characters of what is said of a word
UNSAFE = frozenset("\t\n\"'`$\\;&|<>()*?[]{}!#")  # a shell would read a name with one of them otherwise


class Word(NamedTuple):
    """A word, and what is said of it."""

    text: str
    about: str = ""


def words(found: Iterable[tuple[str, str]]) -> tuple[Word, ...]:
    """Each word once, but for those that a shell would run, or read as something else than a word."""
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
    view = Workbench(options).look()
    return words([*((key, "") for key in view.keys), *_saved_in(view.host)])


def saved(options: Options) -> tuple[Word, ...]:
    """Saved events and sequences of the workspace, by the names of their files."""
    from hookscope.workbench.sequences import sequences_of

    host = Workbench(options).open()
    own = (_named(row.file, host) for row in sequences_of(host.workspace, host.dialect))
    return words([*_saved_in(host), *((name, "sequence") for name in own)])


def _saved_in(host: Host) -> Iterator[tuple[str, str]]:
    from hookscope.workbench.saved import saved_listing

    for row in saved_listing(host.workspace):
        if not row.problem:
            yield _named(row.file, host), f"saved {row.key}"


def _named(file: Path, host: Host) -> str:
    """A file from where one stands; nothing for one that lies elsewhere."""
    cwd = host.surroundings.cwd
    return str(file.relative_to(cwd)) if file.is_relative_to(cwd) else ""


def rules(options: Options) -> tuple[Word, ...]:
    """The rules of lint."""
    from hookscope.workbench.linting import rules_in_short

    return words(rules_in_short().items())


def topics(options: Options) -> tuple[Word, ...]:
    """The chapters of the manual, and the commands."""
    from hookscope.cli.main import COMMANDS
    from hookscope.manual import TOPICS

    return words([*TOPICS.items(), *((name, "") for name in COMMANDS)])


def real_events(options: Options) -> tuple[Word, ...]:
    """The last real events by id, with their keys. Raises OSError."""
    from hookscope.workbench.tap.events import short_id
    from hookscope.workbench.tap.places import spool_place
    from hookscope.workbench.tap.spool import last

    found, _ = last(spool_place(Workbench(options).open()), RUNS, None)
    return words((short_id(heard), heard.key) for heard in reversed(found))


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
    stored = bench.record.journal(bench.open()).recent(RUNS)
    return words((str(run.id), f"{run.key} {run.outcome}") for run in stored)


def packs(options: Options) -> tuple[Word, ...]:
    """Installed packs by id, with version and source."""
    known = installed_here(Workbench(options).open())
    return words((record.id, f"{record.version} {record.source}") for record in known)


FOUND: Mapping[str, Callable[[Options], tuple[Word, ...]]] = {
    "hooks": hooks,
    "events": events,
    "events and saved": events_and_saved,
    "saved": saved,
    "real events": real_events,
    "rules": rules,
    "topics": topics,
    "dialects": dialects,
    "environments": environments,
    "sequences": sequences,
    "runs": runs,
    "packs": packs,
}
