"""What Hookscope costs beside floors and others, all measured in one run: python -m tests.benchmarks

Exit code 1 when a ratio misses its target; absolute times are told and never decide.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks import (
    dispatch,
    journal,
    lanes,
    loading,
    looking,
    memory,
    million,
    painting,
    plugin_hooks,
    saving,
    scale,
    settings,
    starting,
)
from tests.benchmarks.machine import line, machine
from tests.benchmarks.measuring import ROUNDS, Figures, Group, measured, missed
from tests.benchmarks.table import document, markdown, placed, shown

GROUPS: tuple[Group, ...] = (
    dispatch.GROUP,
    plugin_hooks.GROUP,
    lanes.GROUP,
    lanes.CRASHES,
    lanes.TYPESCRIPT,
    lanes.CONCURRENT,
    looking.GROUP,
    loading.GROUP,
    saving.GROUP,
    settings.GROUP,
    journal.GROUP,
    starting.GROUP,
    painting.GROUP,
    memory.GROUP,
    million.GROUP,
    scale.GROUP,
)


def main(arguments: Sequence[str], all_groups: Sequence[Group] = GROUPS) -> int:
    told = parser(all_groups)
    asked = told.parse_args(arguments)
    known = {group.name: group for group in all_groups}
    if unknown := [name for name in asked.groups if name not in known]:
        told.error(f"there is no group {unknown[0]}; there are {', '.join(known)}")
    groups = chosen(asked.groups, all_groups)
    facts = machine()
    say(line(facts))
    figures: list[Figures] = []
    with a_home_of_its_own():
        for group in groups:
            say(f"{group.name} …")
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                figures.append(measured(group, Path(folder).resolve(), asked.rounds, say))
    table = markdown(figures, facts, asked.rounds)
    sys.stdout.write(f"{table if asked.markdown else shown(figures)}\n")
    if asked.json:
        asked.json.write_text(json.dumps(document(figures, facts, asked.rounds), indent=1) + "\n")
    if asked.into:
        asked.into.write_text(placed(asked.into.read_text(), table))
    return 1 if missed(figures) else 0


def parser(groups: Sequence[Group]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = ", ".join(group.name if not group.only_named else f"{group.name} (minutes)" for group in groups)
    made.add_argument(
        "groups", nargs="*", metavar="GROUP", help=f"{names}; none named: all of the quick ones"
    )
    made.add_argument("--rounds", type=positive, default=ROUNDS, help="at most; %(default)s")
    made.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    made.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    made.add_argument(
        "--into", type=Path, metavar="FILE", help="put the table between the marks of this file"
    )
    return made


def chosen(names: Sequence[str], groups: Sequence[Group]) -> list[Group]:
    """The groups of these names; without any, all that take no minutes."""
    return [group for group in groups if (group.name in names if names else not group.only_named)]


def positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


@contextmanager
def a_home_of_its_own() -> Iterator[None]:
    """Nothing of the user's is read or written, and whatever starts finds its compiled modules."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in of_a_user(os.environ):
            del os.environ[name]
        places = {"HOME": "", "HOOKSCOPE_STATE_DIR": "state", "HOOKSCOPE_CONFIG_DIR": "config"}
        os.environ.update({name: str(Path(folder, place)) for name, place in places.items()})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def of_a_user(names: Iterable[str]) -> list[str]:
    """The variables that would lead a host, or Python, elsewhere."""
    hosts = ("OPENCLAW_", "MILADY_", "ELIZA_", "EVE_", "HOOKSCOPE_")
    return [name for name in names if name.startswith(hosts) or name == "PYTHONDONTWRITEBYTECODE"]


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
