"""What each shell asks at a tab, and what it reads: ours, so that one click or another changes neither."""

from __future__ import annotations

import os
import re
from typing import Any

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from hookscope.cli.completing.line import Line, line_of

AS_IT_STANDS = re.compile(r"[\w@%+=:,./-]", re.ASCII)  # what bash reads as it stands, outside of quotes
OPTION = re.compile(r"--[\w-]+=")


class Asked(ShellComplete):
    """A shell that passes the line as it is typed, up to the cursor."""

    source_template = ""  # see `scripts`

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.line = _typed()

    def get_completion_args(self) -> tuple[list[str], str]:
        return list(self.line.words[1:]), self.line.begun

    def whole(self, value: str) -> str:
        """In place of the one that is begun: of `--only=gre` click gives what stands behind the `=`."""
        option = OPTION.match(self.line.begun)
        return value if option is None or value.startswith("--") else option[0] + value

    def format_completion(self, item: CompletionItem) -> str:
        about = " ".join((item.help or "").split())
        return f"{item.type}\t{self.whole(item.value)}\t{about}"


class Bash(Asked):
    """It takes a colon for the end of a word, and puts what it is given into the line as it stands."""

    name = "bash"

    def format_completion(self, item: CompletionItem) -> str:
        return f"{item.type},{self._inserted(self.whole(item.value)) if item.type == 'plain' else ''}"

    def _inserted(self, value: str) -> str:
        if self.line.quote:
            return value
        begun = self.line.begun
        cut = max(
            (begun.rfind(end) + 1 for end in ":=" if end in os.environ.get("COMP_WORDBREAKS", "")), default=0
        )
        rest = value[cut:] if value.startswith(begun[:cut]) else value
        return "".join(one if AS_IT_STANDS.match(one) or not one.isascii() else f"\\{one}" for one in rest)


class Zsh(Asked):
    """It quotes what it inserts."""

    name = "zsh"


class Fish(Asked):
    """It quotes what it inserts."""

    name = "fish"


def _typed() -> Line:
    """The line; where the shell counts its words, only those up to that one."""
    line = line_of(os.environ.get("COMP_WORDS", ""))
    count = int(os.environ.get("COMP_CWORD") or -1)
    if count < 0:
        return line
    words = (*line.words, line.begun)
    return Line(words[:count], words[count] if count < len(words) else "", line.quote)


def use_ours() -> None:
    """From now on click asks these."""
    for shell in (Bash, Zsh, Fish):
        add_completion_class(shell)
