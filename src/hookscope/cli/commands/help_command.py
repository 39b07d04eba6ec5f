"""`hookscope help`: the manual in the terminal."""

import os
import shlex
import shutil
import subprocess
import sys

import click

from hookscope.cli.answers import Answer, print_answer
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.helpers import user_command
from hookscope.manual import Chapter, Section, chapter_of, chapters, sections_about
from hookscope.model.text import one_line

MAX_WIDTH = 100  # cells: longer lines are hard to read


@click.command("help", cls=ExampledCommand)
@click.argument("topic", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def command(ctx: click.Context, topic: tuple[str, ...], as_json: bool) -> int:
    """Show the manual: its chapters, one of them, or the sections about some words.

    Commands are topics too.
    """
    group = ctx.parent.command if ctx.parent is not None else None
    assert isinstance(group, click.Group)
    query = " ".join(topic)
    answer = _answer(query, ctx, group) if query.strip() else _contents()
    if not as_json and sys.stdout.isatty() and _paged(answer.rendered_text()):
        return 0
    return print_answer(answer, as_json=as_json)


def _paged(text: str) -> bool:
    """Show a text that is longer than the screen in the user's pager; return False if it was not shown."""
    if text.count("\n") + 1 < shutil.get_terminal_size().lines:
        return False
    try:  # never a pager from the workspace
        pager = user_command(shlex.split(os.environ.get("PAGER") or "less"), [os.getcwd()])
        subprocess.run(pager, input=text, text=True, env={"LESS": "FRX", **os.environ}, check=True)
    except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
        return False
    return True


def _contents() -> Answer:
    titles = {chapter.topic: chapter.title for chapter in chapters().values()}
    lines = [f"  {topic:<14}{title}" for topic, title in titles.items()]
    ways = ("hookscope help TOPIC", "hookscope help WORDS     finds the sections about these words")
    return Answer(
        {"topics": titles}, "\n".join([*ways, "", *lines, "", "hookscope COMMAND --help lists its options."])
    )


def _answer(query: str, ctx: click.Context, group: click.Group) -> Answer:
    """Return the chapter, the command's help or the sections for a query. Raises UsageError."""
    commands = group.list_commands(ctx)
    chapter = chapter_of(query)
    if chapter is not None:
        more = f"\n\n`hookscope {query} --help` shows the options." if query in commands else ""
        return Answer(
            {"topic": chapter.topic, "title": chapter.title, "text": chapter.text}, _shown(chapter) + more
        )
    if query in commands:
        help_command = group.get_command(ctx, query)
        assert help_command is not None
        with click.Context(help_command, info_name=query, parent=ctx.parent) as help_context:
            text = help_command.get_help(help_context)
        return Answer({"topic": query, "text": text}, text)
    found = sections_about(query)
    if not found:
        raise click.UsageError(f"There is no topic {one_line(query)!r}; `hookscope help` lists them.", ctx)
    document = {"query": query, "sections": [_section_document(section) for section in found]}
    return Answer(document, _rendered("\n\n".join(map(_section_markdown, found))))


def _section_document(section: Section) -> dict[str, str]:
    return {
        "topic": section.chapter.topic,
        "title": section.heading or section.chapter.title,
        "text": section.text,
    }


def _section_markdown(section: Section) -> str:
    path = " — ".join(filter(None, (section.chapter.title, section.heading)))
    return f"# {path}\n\n{section.text}\n\n*The whole chapter:* `hookscope help {section.chapter.topic}`"


def _shown(chapter: Chapter) -> str:
    return _rendered(f"# {chapter.title}\n\n{chapter.text}")


def _rendered(markdown: str) -> str:
    """Return Markdown formatted for the terminal; elsewhere unchanged."""
    if not sys.stdout.isatty():
        return markdown
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, MAX_WIDTH)
    with console.capture() as captured:
        console.print(Markdown(markdown))
    return captured.get().rstrip()


with_completion("help", command.params)
