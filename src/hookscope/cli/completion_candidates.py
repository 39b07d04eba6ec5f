"""Completion candidates, looked up without running or loading a hook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from hookscope.app.options import Options
from hookscope.app.project_config import environment_files
from hookscope.app.workbench import Workbench
from hookscope.model.host import Host
from hookscope.model.text import one_line
from hookscope.packs.transaction import installed_packs

RUN_LIMIT = 20  # runs and events to offer
DESCRIPTION_WIDTH = 60  # characters of a description
UNSAFE_CHARACTERS = frozenset("\t\n\"'`$\\;&|<>()*?[]{}!#")  # characters that a shell would interpret


class Candidate(NamedTuple):
    """A word to complete to, and its description."""

    text: str
    description: str = ""


def safe_candidates(pairs: Iterable[tuple[str, str]]) -> tuple[Candidate, ...]:
    """Return each word once, without words that a shell would interpret."""
    descriptions: dict[str, str] = {}
    for text, description in pairs:
        if (
            text
            and text.isprintable()
            and not UNSAFE_CHARACTERS & {*text}
            and not text.startswith(("-", "~"))
        ):
            descriptions.setdefault(text, one_line(description, DESCRIPTION_WIDTH))
    return tuple(Candidate(*item) for item in descriptions.items())


def hook_names(options: Options) -> tuple[Candidate, ...]:
    """Return the hooks by name, with state and source."""
    view = Workbench(options).scan()
    return safe_candidates(
        (row.hook.name, f"{row.state.value}, {row.hook.folder.source}") for row in view.inventory.hooks
    )


def event_keys(options: Options) -> tuple[Candidate, ...]:
    """Return the event keys that can be fired here."""
    return safe_candidates((key, "") for key in Workbench(options).scan().keys)


def event_keys_and_saved_events(options: Options) -> tuple[Candidate, ...]:
    """Return event keys, and saved events by their file names."""
    view = Workbench(options).scan()
    return safe_candidates([*((key, "") for key in view.keys), *_saved_files(view.host)])


def saved_event_names(options: Options) -> tuple[Candidate, ...]:
    """Return the workspace's saved events and sequences by their file names."""
    from hookscope.authoring.testing.sequences import sequences_of

    host = Workbench(options).open()
    sequence_files = (_relative_name(row.file, host) for row in sequences_of(host.workspace, host.dialect))
    return safe_candidates([*_saved_files(host), *((name, "sequence") for name in sequence_files)])


def _saved_files(host: Host) -> Iterator[tuple[str, str]]:
    from hookscope.authoring.testing.saved_events import saved_listing

    for row in saved_listing(host.workspace):
        if not row.problem:
            yield _relative_name(row.file, host), f"saved {row.key}"


def _relative_name(file: Path, host: Host) -> str:
    """Return the file's path from the current folder; empty if it is outside of it."""
    cwd = host.machine.cwd
    return str(file.relative_to(cwd)) if file.is_relative_to(cwd) else ""


def lint_rule_ids(options: Options) -> tuple[Candidate, ...]:
    """Return the ids of the lint rules."""
    from hookscope.authoring.lint.linting import rule_titles

    return safe_candidates(rule_titles().items())


def help_topics(options: Options) -> tuple[Candidate, ...]:
    """Return the chapters of the manual, and the commands."""
    from hookscope.cli.command_index import COMMANDS
    from hookscope.manual import chapters

    titles = [(topic, chapter.title) for topic, chapter in chapters().items()]
    return safe_candidates([*titles, *((name, "") for name in COMMANDS)])


def recorded_event_ids(options: Options) -> tuple[Candidate, ...]:
    """Return the last real events by id, with their keys. Raises OSError."""
    from hookscope.authoring.testing.recorded_events import short_id
    from hookscope.recording.spool import newest_events
    from hookscope.recording.taps import spool_path

    events, _ = newest_events(spool_path(Workbench(options).open()), RUN_LIMIT, None)
    return safe_candidates((short_id(event), event.key) for event in reversed(events))


def dialect_names(options: Options) -> tuple[Candidate, ...]:
    from hookscope.authoring.scaffold.request import dialect_names

    return safe_candidates((name, "") for name in dialect_names())


def environment_names(options: Options) -> tuple[Candidate, ...]:
    """Return the environments of the workspace."""

    return safe_candidates((name, "") for name in environment_files(Workbench(options).open().workspace))


def sequence_names(options: Options) -> tuple[Candidate, ...]:
    """Return the sequences of the host and the workspace, with their problems."""
    from hookscope.authoring.testing.sequences import sequences_of

    host = Workbench(options).open()
    return safe_candidates((row.name, row.problem) for row in sequences_of(host.workspace, host.dialect))


def run_numbers(options: Options) -> tuple[Candidate, ...]:
    """Return the last runs by number, with their outcome. Raises OSError."""
    bench = Workbench(options)
    stored = bench.run_record.journal(bench.open()).recent(RUN_LIMIT)
    return safe_candidates((str(run.id), f"{run.key} {run.outcome}") for run in stored)


def pack_ids(options: Options) -> tuple[Candidate, ...]:
    """Return the installed packs by id, with version and source."""
    installed = installed_packs(Workbench(options).open())
    return safe_candidates((record.id, f"{record.version} {record.source}") for record in installed)


CANDIDATE_SOURCES: Mapping[str, Callable[[Options], tuple[Candidate, ...]]] = {
    "hooks": hook_names,
    "events": event_keys,
    "events and saved": event_keys_and_saved_events,
    "saved": saved_event_names,
    "real events": recorded_event_ids,
    "rules": lint_rule_ids,
    "topics": help_topics,
    "dialects": dialect_names,
    "environments": environment_names,
    "sequences": sequence_names,
    "runs": run_numbers,
    "packs": pack_ids,
}
