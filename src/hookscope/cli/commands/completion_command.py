"""`hookscope completion`: the script a shell loads, the line it passes, the format it reads."""

import json
import os
import re
import sys
from pathlib import PurePath
from shlex import quote
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from hookscope.cli.lazy_group import ExampledCommand

QUOTES = ("'", '"')


class TypedLine(NamedTuple):
    """A command line that is being typed."""

    words: tuple[str, ...]
    current_word: str = ""
    open_quote: str = ""  # the open quote in the current word


def parse_line(text: str) -> TypedLine:
    """Split a line into words. An unfinished word or quote is the current word. Never raises."""
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
    """Completion for a shell that passes the typed line, up to the cursor."""

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
    """Return the typed line; only up to the current word if the shell passes its index."""
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


def _program_words() -> str:
    """Return the running program as shell words, independent of the current folder and of PATH."""
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == "hookscope" and os.path.isfile(started) and os.access(started, os.X_OK):
        return quote(started)
    return " ".join(map(quote, (sys.executable, "-P", "-m", "hookscope")))


@click.command("completion", cls=ExampledCommand)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def completion_command(shell: str | None, as_json: bool) -> int:
    """Print the script that completes commands, hooks, events, dialects, packs, runs and saved events.

    Without a name, it is for the shell in SHELL. Candidates are looked up at each Tab; no hook is run.
    """
    shell = shell or PurePath(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"Name the shell, one of {', '.join(SHELLS)}: `{SETUP_LINES['bash']}`.")
    script = SCRIPTS[shell].replace("{program}", _program_words())
    document = {"shell": shell, "read_by": SETUP_LINES[shell], "script": script}
    click.echo(json.dumps(document, indent=2) if as_json else script.rstrip())
    return 0
