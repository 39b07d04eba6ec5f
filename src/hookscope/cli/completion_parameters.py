"""The source of candidates for each parameter. They are looked up when a shell requests completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from hookscope.cli.startup import options_from

if TYPE_CHECKING:
    from hookscope.app.options import Options
    from hookscope.cli.completion_candidates import Candidate

# Parameters with the same meaning in every command.
CANDIDATES_BY_PARAMETER = {
    "dialect": "dialects",
    "dialects": "dialects",
    "environment": "environments",
    "only": "hooks",
    "left_out": "hooks",
    "hook": "hooks",
    "event": "events",
    "events": "events",
}
# The others, by command. A source that ends with `+` offers files too.
CANDIDATES_BY_COMMAND = {
    ("info", "name"): "hooks",
    ("why", "name"): "hooks",
    ("load", "name"): "hooks",
    ("fix", "name"): "hooks",
    ("enable", "name"): "hooks",
    ("disable", "name"): "hooks",
    ("compare", "names"): "hooks",
    ("compare", "fire"): "events",
    ("plan", "key"): "events",
    ("events", "key"): "events",
    ("fuzz", "key"): "events",
    ("fire", "what"): "events and saved+",
    ("fire", "names"): "real events",  # `tap fire`
    ("save", "name"): "real events",
    ("test", "what"): "saved+",
    ("sequence", "names"): "sequences+",
    ("replay", "numbers"): "runs",
    ("export", "numbers"): "runs",
    ("log", "numbers"): "runs",
    ("pin", "numbers"): "runs",
    ("update", "ids"): "packs",
    ("uninstall", "id"): "packs",
    ("install", "spec"): "files+",
    ("lint", "explain"): "rules",
    ("lint", "rules"): "rules",
    ("fix", "rules"): "rules",
    ("help", "topic"): "topics",
}
COMMA_SEPARATED = frozenset({"dialects", "events"})  # parameters with a comma-separated list
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def with_completion(command: str, params: list[click.Parameter]) -> list[click.Parameter]:
    """Return the parameters, with completion for those that have no choices of their own."""
    for param in params:
        source = CANDIDATES_BY_COMMAND.get((command, param.name or "")) or CANDIDATES_BY_PARAMETER.get(
            param.name or ""
        )
        if source is None and getattr(param, "metavar", None) == "FILE":
            source = "files+"
        if source is not None and not isinstance(param.type, click.Choice):
            param._custom_shell_complete = _completer(source)  # what the argument `shell_complete=` would set
    return params


def _completer(source: str) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        what = source.removesuffix("+")
        before, _, last = begun.rpartition(",") if param.name in COMMA_SEPARATED else ("", "", begun)
        head = f"{before}," if before else ""
        found = () if what == "files" else _look_up(what, _options_of(ctx))
        items: list[CompletionItem[str]] = [
            CompletionItem(f"{head}{one.text}", help=one.description or None)
            for one in found
            if one.text.startswith(last)
        ]
        return items or [CompletionItem(begun, type="file")] if source.endswith("+") else items

    return complete


def _options_of(ctx: click.Context) -> Options:
    """Return the machine options that are already on the command line."""
    parameters = [context.params for context in (ctx.find_root(), ctx)]
    return options_from(parameters[1], options_from(parameters[0]))


def _look_up(source: str, options: Options) -> Sequence[Candidate]:
    """Return the candidates of a source. Errors are hidden: messages would garble the command line."""
    try:
        with redirect_stderr(StringIO()):
            from hookscope.cli.completion_candidates import CANDIDATE_SOURCES

            return CANDIDATE_SOURCES[source](options)
    except Exception:
        return ()
