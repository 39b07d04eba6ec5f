"""`hookscope help`."""

import sys

import click

from hookscope.cli.answers import Answer, print_answer
from hookscope.cli.completion_parameters import with_completion
from hookscope.cli.lazy_group import ExampledCommand
from hookscope.manual import TOPICS, Chapter, chapter_of, readme
from hookscope.model.text import nearest_word, one_line

MAX_WIDTH = 100  # cells: longer lines are hard to read


@click.command("help", cls=ExampledCommand)
@click.argument("topic", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.pass_context
def command(ctx: click.Context, topic: str | None, as_json: bool) -> int:
    """The manual, a topic at a time; without a topic, what there is. Commands are topics too."""
    group = ctx.parent.command if ctx.parent is not None else None
    if topic is None:
        lines = [f"  {name:<14}{title}" for name, title in TOPICS.items()]
        text = "\n".join(["hookscope help TOPIC", "", *lines, "", "hookscope help COMMAND is its --help."])
        return print_answer(Answer({"topics": dict(TOPICS)}, text), as_json=as_json)
    command_names = group.list_commands(ctx) if isinstance(group, click.Group) else []
    chapter = chapter_of(topic, readme())
    if chapter is not None:
        document = {"topic": topic, "title": chapter.title, "text": chapter.text}
        options = f"\n\n`hookscope {topic} --help` has the options." if topic in command_names else ""
        return print_answer(Answer(document, chapter_text(chapter) + options), as_json=as_json)
    if topic in command_names and isinstance(group, click.Group):
        help_command = group.get_command(ctx, topic)
        assert help_command is not None
        with click.Context(help_command, info_name=topic, parent=ctx.parent) as help_context:
            return print_answer(
                Answer(
                    {"topic": topic, "text": help_command.get_help(help_context)},
                    help_command.get_help(help_context),
                ),
                as_json=as_json,
            )
    closest = nearest_word(topic, (*TOPICS, *command_names))
    next_step = f"did you mean `{closest}`?" if closest else "`hookscope help` lists them."
    raise click.UsageError(f"There is no topic {one_line(topic)!r}; {next_step}", ctx)


def chapter_text(chapter: Chapter) -> str:
    """Return a chapter formatted for the terminal; elsewhere its source."""
    written = f"# {chapter.title}\n\n{chapter.text}"
    if not sys.stdout.isatty():
        return written
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, MAX_WIDTH)
    with console.capture() as captured:
        console.print(Markdown(written))
    return captured.get().rstrip()


with_completion("help", command.params)
