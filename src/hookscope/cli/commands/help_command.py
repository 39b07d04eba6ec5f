"""`hookscope help`: the manual in the terminal."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from hookscope.cli.answers import Answer, print_answer
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.helpers import user_command
from hookscope.installation import installed_version
from hookscope.manual import Chapter, Section, chapter_of, chapters, sections_about
from hookscope.model.text import one_line

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_WIDTH = 100  # cells: longer lines are hard to read


@click.command("help", cls=ExampledCommand)
@click.argument("topic", nargs=-1)
@click.option("--man", is_flag=True, help="Print the whole manual as a man page, hookscope(1).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def help_command(ctx: click.Context, topic: tuple[str, ...], man: bool, as_json: bool) -> int:
    """Show the manual: its chapters, one of them, or the sections about some words.

    Commands are topics too.
    """
    if man:
        if topic or as_json:
            raise click.UsageError("--man takes no topic and no --json: the page is the whole manual.", ctx)
        click.echo("\n".join(_man_page()))
        return 0
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


def _man_page() -> Iterator[str]:
    """Yield the lines of the manual as a page for `man`."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt().enable("table")
    yield f'.TH HOOKSCOPE 1 "" "Hookscope {installed_version()}" "Hookscope Manual"'
    yield from (".SH NAME", "hookscope \\- see which agent hooks run, which do not and why", ".SH SYNOPSIS")
    yield from (".B hookscope", "[\\fICOMMAND\\fR] [\\fIOPTION\\fR]...")
    for chapter in chapters().values():
        yield f".SH {_roff(chapter.title.upper())}"
        yield from _roff_blocks(parser.parse(chapter.text))


def _roff_blocks(tokens: Sequence["Token"]) -> Iterator[str]:
    """Yield the lines of Markdown blocks: paragraphs, headings, lists, code, and tables as lists of terms."""
    before, cell = "", 0  # the macro before the next text; the column of a table
    for token in tokens:
        match token.type:
            case "heading_open":
                before = ".SS"
            case "list_item_open":
                before = f".IP {f'{token.info}.' if token.info else chr(92) + '(bu'} 3"
            case "tr_open":
                before, cell = ".TP", 0
            case "fence" | "code_block":
                code = map(_roff, token.content.rstrip("\n").split("\n"))
                yield from (*([".PP"] if before else []), ".RS 4", ".nf", *code, ".fi", ".RE")
                before = ".PP"
            case "inline":
                text = ("– " if cell > 1 else "") + (_roff_text(token.children or []) or r"\&")
                yield from [f".SS {text}"] if before == ".SS" else [before, text] if before else [text]
                before = "" if before in (".SS", ".TP") else ".PP"
            case "td_close" | "th_close":
                before, cell = "", cell + 1
            case "table_close":
                before, cell = ".PP", 0


def _roff_text(tokens: Sequence["Token"]) -> str:
    """Return a paragraph: code and strong words are bold, emphasized ones and addresses italic."""
    fonts = {"strong_open": r"\fB", "em_open": r"\fI", "strong_close": r"\fR", "em_close": r"\fR"}
    parts, address = [""], ""
    for token in tokens:
        if token.type == "code_inline":
            parts.append(rf"\fB{_roff(token.content)}\fR")
        elif token.type == "link_open":
            address = str(token.attrGet("href"))
        elif token.type == "link_close":
            parts.append(rf" (\fI{_roff(address)}\fR)" if address.startswith("http") else "")
        else:
            line_break = token.type in ("softbreak", "hardbreak")
            parts.append("\n" if line_break else fonts.get(token.type) or _roff(token.content))
    return "\n".join(_escaped_line(line) for line in "".join(parts).split("\n"))


def _roff(line: str) -> str:
    return _escaped_line(line.replace("\\", r"\e").replace("-", r"\-"))


def _escaped_line(line: str) -> str:
    """Return the line, escaped if roff would read it as a command."""
    return rf"\&{line}" if line.startswith((".", "'")) else line


with_completion("help", help_command.params)
