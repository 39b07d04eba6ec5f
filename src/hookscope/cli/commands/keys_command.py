"""`hookscope keys`."""

import click

from hookscope.app.options import Options
from hookscope.app.preferences import read_keys
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_lines, row_with_text
from hookscope.model.text import one_line, printable


@answers.command(
    "keys",
    click.Option(["--preset"], metavar="NAME", help="Show this preset, without your keys.yaml."),
    click.Option(["--commands"], is_flag=True, help="Show the equivalent command of each action."),
)
def keys_command(options: Options, preset: str | None, commands: bool) -> Answer:
    """List every action of the console with its name, keys and meaning.

    `keys.yaml` in Hookscope's config folder assigns other keys: lines of `action: key` or `action: [key,
    key]`, and `preset: vim`. Mistakes in it are reported here, with exit code 1. `--commands` shows the
    equivalent shell command, or why there is none.
    """
    from hookscope.console.keymap.key_listing import key_listing_of, preset_names

    if preset is not None and preset not in preset_names():
        raise click.UsageError(
            f"There is no preset {one_line(preset, 40)!r}; the presets are {', '.join(preset_names())}."
        )
    file = read_keys()
    listing = key_listing_of(file, preset)
    wide = max(len(row.id) for row in listing.actions) + 2
    keys = max(len(" ".join(row.keys)) for row in listing.actions) + 2
    lines = [f"preset {listing.preset}, {'with' if file.file.exists() else 'no'} {printable(str(file.file))}"]
    if preset is not None:
        lines = [f"preset {listing.preset}"]
    section = ""
    for row in listing.actions:
        if row.scope_title != section:
            section = row.scope_title
            title = f"{section}{' (letters are text here, not keys)' if row.typing else ''}"
            lines += ["", *fold_lines([title])]
        text = (row.command or f"– {row.without}") if commands else row.meaning
        lines += row_with_text(f"  {row.id:<{wide}}{' '.join(row.keys) or '–':<{keys}}"[:-2], text)
    document = {
        "file": str(file.file),
        "preset": listing.preset,
        "presets": list(preset_names()),
        "actions": [
            {
                "id": row.id,
                "keys": list(row.keys),
                "default": list(row.default),
                "meaning": row.meaning,
                "room": row.scope_title,
                "letters": not row.typing,
                "command": row.command or None,
                "without": row.without or None,
            }
            for row in listing.actions
        ],
        "problems": [
            {
                "text": problem.text,
                "file": str(problem.place.file) if problem.place else None,
                "line": problem.place.line if problem.place else None,
            }
            for problem in listing.problems
        ],
    }
    notes = tuple(
        f"{problem.place.file}, line {problem.place.line}: {problem.text}" if problem.place else problem.text
        for problem in listing.problems
    )
    return Answer(document, "\n".join(lines), ok=not listing.problems, notes=notes)
