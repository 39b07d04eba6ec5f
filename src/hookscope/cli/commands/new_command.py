"""`hookscope new NAME`."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import replace

import click

from hookscope.cli import answers, new_tables
from hookscope.cli.answers import Answer
from hookscope.core.text import why_of
from hookscope.helpers import user_command
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.making.wish import LANGUAGES, Kind, Script, Wish, kind_named
from hookscope.workbench.making.writing import make, sketch_new


@answers.command(
    "new",
    click.Argument(["name"]),
    click.Option(["--event", "events"], metavar="KEY", multiple=True, help="What it listens to; repeatable."),
    click.Option(["--language"], type=click.Choice(LANGUAGES), help="Chosen by the hosts where not given."),
    click.Option(["--dialects"], metavar="A,B", help="Whose rules it is to keep; else the one in force."),
    click.Option(["--in", "where"], metavar="workspace|managed|DIR", default="", help="Where it is put."),
    click.Option(["--description"], metavar="TEXT", default="", help="What it is, in one line."),
    click.Option(["--kind"], metavar="KIND", help="hook, pack, plugin or stream; chosen where not given."),
    click.Option(["--pack"], is_flag=True, help="A package of hooks with a first one, below this folder."),
    click.Option(["--plugin"], is_flag=True, help="A plugin that guards tools."),
    click.Option(["--dry-run"], is_flag=True, help="Show the files and write nothing."),
    click.Option(["--trust/--no-trust"], default=None, help="May it run: yes, where its folder is new."),
    click.Option(["--edit"], is_flag=True, help="Open the handler in $EDITOR then."),
)
def command(
    options: Options,
    name: str,
    events: tuple[str, ...],
    language: Script | None,
    dialects: str | None,
    where: str,
    description: str,
    kind: str | None,
    pack: bool,
    plugin: bool,
    dry_run: bool,
    trust: bool | None,
    edit: bool,
) -> Answer:
    """Write a hook that works: HOOK.md, a handler, and a saved event with what is expected of it.

    Nothing is overwritten, and `hookscope undo` takes all of it back. The new folder may run: it was not
    there before, and what lies in it comes from here.
    """
    wish = Wish(
        name,
        _kind(kind, pack, plugin),
        tuple(key.strip() for text in events for key in text.split(",") if key.strip()),
        language,
        tuple(part.strip() for part in (dialects or "").split(",") if part.strip()),
        where,
        description,
    )
    bench = answers.bench_of(options)
    sketch = sketch_new(bench, bench.look(), wish)
    if dry_run:
        return Answer(
            new_tables.planned_document(sketch), new_tables.planned(sketch, bench.setup.surroundings)
        )
    made = make(bench, sketch, trust=trust)
    bench.close_now()
    if edit:
        made = replace(made, notes=(*made.notes, *_edited(bench, str(sketch.main))))
    really = answers.really_written(options, sketch.main)
    return Answer(new_tables.document(made), new_tables.text(made, bench.setup.surroundings), aside=really)


def _kind(kind: str | None, pack: bool, plugin: bool) -> Kind | None:
    """Raises Refusal where several are named."""
    named: list[Kind] = [kind_named(kind)] if kind is not None else []
    named += ["pack"] if pack else []
    named += ["plugin"] if plugin else []
    if len(set(named)) > 1:
        raise Refusal(f"It is a {named[0]} or a {named[1]}.", "Name one kind.", code=2)
    return named[0] if named else None


def _edited(bench: Workbench, file: str) -> tuple[str, ...]:
    """Its author's editor, until it ends; what kept it from opening, as a sentence."""
    env = os.environ  # no what-if chooses an editor
    editor = env.get("VISUAL", "").strip() or env.get("EDITOR", "").strip()
    if not editor:
        return (f"No editor is named: set VISUAL or EDITOR. The place is {file}",)
    if not sys.stdin.isatty():
        return (f"There is no terminal for an editor. The place is {file}",)
    try:
        done = subprocess.run(
            user_command([*shlex.split(editor), file], [bench.open().workspace]), check=False
        )
    except ValueError as error:
        return (f"VISUAL or EDITOR is no command: {error}. The place is {file}",)
    except OSError as error:
        return (f"{editor} does not start: {why_of(error)}. The place is {file}",)
    return (f"{editor} ended with exit code {done.returncode}.",) if done.returncode else ()
