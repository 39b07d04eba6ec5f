"""Which parameter completes to what. Candidates are looked up when a shell requests them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.cli.shared_options import options_from
from hookscope.model.host import Host
from hookscope.model.text import one_line
from hookscope.packs.transaction import installed_packs

QUOTES = ("'", '"')


class TypedLine(NamedTuple):
    """A command line that is being typed."""

    words: tuple[str, ...]
    current_word: str = ""
    open_quote: str = ""  # the open quote in the current word


def parse_line(text: str) -> TypedLine:
    """Split a line into words. Never raises: what is not closed yet is the current word."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\" and quote != "'":
            escaped = next(characters, "")
            backslash = character if quote and escaped not in ('"', "\\", "$", "`") else ""
            word = [*(word or ()), backslash + escaped]
        elif quote:
            quote, added = ("", "") if character == quote else (quote, character)
            word = [*(word or ()), added]
        elif character in QUOTES:
            quote, word = character, word or []
        elif character.isspace():
            words += ["".join(word)] if word is not None else []
            word = None
        else:
            word = [*(word or ()), character]
    return TypedLine(tuple(words), "".join(word or ()), quote)


_UNQUOTED = re.compile(r"[\w@%+=:,./-]", re.ASCII)  # characters that bash reads literally outside quotes
_OPTION_PREFIX = re.compile(r"--[\w-]+=")


class LineCompletion(ShellComplete):
    """A shell that passes the line as it is typed, up to the cursor."""

    source_template = ""  # unused; see SCRIPTS

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.line = _typed_line()

    def get_completion_args(self) -> tuple[list[str], str]:
        return list(self.line.words[1:]), self.line.current_word

    def whole_word(self, value: str) -> str:
        """Return the replacement for the whole current word.

        For `--only=gre` click returns only the part after the `=`.
        """
        option = _OPTION_PREFIX.match(self.line.current_word)
        return value if option is None or value.startswith("--") else option[0] + value

    def format_completion(self, item: CompletionItem) -> str:
        description = " ".join((item.help or "").split())
        return f"{item.type}\t{self.whole_word(item.value)}\t{description}"


class BashCompletion(LineCompletion):
    """Bash treats a colon as the end of a word, and inserts candidates without quoting them."""

    name = "bash"

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{self._insertable(self.whole_word(item.value)) if item.type == 'plain' else ''}"

    def _insertable(self, value: str) -> str:
        if self.line.open_quote:
            return value
        current = self.line.current_word
        cut = max(
            (current.rfind(end) + 1 for end in ":=" if end in os.environ.get("COMP_WORDBREAKS", "")),
            default=0,
        )
        rest = value[cut:] if value.startswith(current[:cut]) else value
        return "".join(
            character if _UNQUOTED.match(character) or not character.isascii() else f"\\{character}"
            for character in rest
        )


class ZshCompletion(LineCompletion):
    """Zsh quotes what it inserts."""

    name = "zsh"


class FishCompletion(LineCompletion):
    """Fish quotes what it inserts."""

    name = "fish"


def _typed_line() -> TypedLine:
    """Return the typed line; up to the current word if the shell counts its words."""
    line = parse_line(os.environ.get("COMP_WORDS", ""))
    count = int(os.environ.get("COMP_CWORD") or -1)
    if count < 0:
        return line
    words = (*line.words, line.current_word)
    return TypedLine(words[:count], words[count] if count < len(words) else "", line.open_quote)


def register_shells() -> None:
    """Register these completion classes with click."""
    for shell in (BashCompletion, ZshCompletion, FishCompletion):
        add_completion_class(shell)


SHELLS = ("bash", "zsh", "fish")
BASH_SCRIPT = """\
_hookscope_completion() {
    local kind value
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case "$kind" in
            plain) COMPREPLY+=("$value") ;;
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
        esac
    done < <(COMP_WORDS="${COMP_LINE:0:COMP_POINT}" COMP_CWORD=-1 COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        _HOOKSCOPE_COMPLETE=bash_complete {program} 2>/dev/null)
}
complete -o nosort -F _hookscope_completion hookscope 2>/dev/null ||
    complete -F _hookscope_completion hookscope
"""
ZSH_SCRIPT = """\
#compdef hookscope
_hookscope_completion() {
    local kind value about
    local -a plain described
    while IFS=$'\\t' read -r kind value about; do
        case "$kind" in
            plain)
                if [[ -n "$about" ]]; then
                    described+=("${value//:/\\\\:}:$about")
                else
                    plain+=("$value")
                fi ;;
            dir) _path_files -/ ;;
            file) _path_files ;;
        esac
    done < <(COMP_WORDS="${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" COMP_CWORD=-1 \\
        _HOOKSCOPE_COMPLETE=zsh_complete {program} 2>/dev/null)
    (( $#described )) && _describe -V hookscope described -U
    (( $#plain )) && compadd -U -V hookscope -a plain
    return 0
}
if [[ "$zsh_eval_context[-1]" == loadautofunc ]]; then
    _hookscope_completion "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i -D; }
    compdef _hookscope_completion hookscope
fi
"""
FISH_SCRIPT = """\
function _hookscope_completion
    set -lx COMP_WORDS (commandline -cp | string collect)
    set -lx COMP_CWORD -1
    set -lx _HOOKSCOPE_COMPLETE fish_complete
    for line in ({program} 2>/dev/null)
        set -l parts (string split \\t -- $line)
        switch $parts[1]
            case plain
                printf '%s\\t%s\\n' $parts[2] $parts[3]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
        end
    end
end
complete --no-files --command hookscope --arguments "(_hookscope_completion)"
"""
SCRIPTS = {"bash": BASH_SCRIPT, "zsh": ZSH_SCRIPT, "fish": FISH_SCRIPT}
SETUP_LINES = {
    "bash": 'eval "$(hookscope completion bash)"',
    "zsh": 'eval "$(hookscope completion zsh)"',
    "fish": "hookscope completion fish | source",
}


def completion_script(shell: str) -> str:
    """Return the script that a shell loads for completion."""
    return SCRIPTS[shell].replace("{program}", _program_words())


def _program_words() -> str:
    """Return the running program as shell words, independent of the current folder and of PATH."""
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == "hookscope" and os.path.isfile(started) and os.access(started, os.X_OK):
        return quote(started)
    return " ".join(map(quote, (sys.executable, "-P", "-m", "hookscope")))


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
    from hookscope.manual import TOPICS

    return safe_candidates([*TOPICS.items(), *((name, "") for name in COMMANDS)])


def recorded_event_ids(options: Options) -> tuple[Candidate, ...]:
    """Return the last real events by id, with their keys. Raises OSError."""
    from hookscope.authoring.testing.recorded_events import short_id
    from hookscope.recording.spool import newest_events
    from hookscope.recording.tap_files import spool_path

    events, _ = newest_events(spool_path(Workbench(options).open()), RUN_LIMIT, None)
    return safe_candidates((short_id(event), event.key) for event in reversed(events))


def dialect_names(options: Options) -> tuple[Candidate, ...]:
    """Return the names of the dialects."""
    from hookscope.authoring.scaffold.target_hosts import dialect_names

    return safe_candidates((name, "") for name in dialect_names())


def environment_names(options: Options) -> tuple[Candidate, ...]:
    """Return the environments of the workspace."""
    from hookscope.app.project_config import environment_files

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
# The others, by command. A name that ends with `+` offers files too.
CANDIDATES_BY_COMMAND = {
    ("info", "name"): "hooks",
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
    """Return the machine options that are already in the line."""
    parameters = [context.params for context in (ctx.find_root(), ctx)]
    return options_from(parameters[1], options_from(parameters[0]))


def _look_up(source: str, options: Options) -> Sequence[Candidate]:
    """Return the candidates of a source. Errors are hidden: they would disturb the line."""
    try:
        with redirect_stderr(StringIO()):
            return CANDIDATE_SOURCES[source](options)
    except Exception:
        return ()
