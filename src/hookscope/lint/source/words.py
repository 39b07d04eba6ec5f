"""What both readers of source look for: names of members, calls and folders."""

from __future__ import annotations

import re

EVENT = re.compile(r"_?(?:event|evt|hook_?event)\Z", re.IGNORECASE)  # what authors call the event
GUARDED = ("type", "action")
ANSWERS = frozenset(  # of tool gates and of other programs' hooks
    {
        "allow",
        "block",
        "blockReason",
        "block_reason",
        "cancel",
        "decision",
        "permissionDecision",
        "requireApproval",
    }
)
HOME = re.compile(r"(?:/Users/(?!Shared(?:/|\Z))|/home/|[A-Za-z]:[\\/]+Users[\\/]+)[\w.@+-]+(?=[\\/]|\Z)")
SHELL_WORD = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?P<word>[^\s;|&<>()\"'`$]+)")
PROGRAM = re.compile(r"[A-Za-z0-9_][\w.+-]*\Z")
# Of a shell, or on every machine that has one.
COMMON = """
. : [ alias bash bg break builtin cat cd chmod command continue cp date dirname echo env eval exec exit export
false fg for function grep hash head hostname id if jobs kill let local ls mkdir mktemp mv printf ps pwd read
readonly return rm rmdir sed set sh shift sleep sort source tail tee test then time times touch tr trap true
type ulimit umask unalias uname unset wait wc which while whoami xargs
"""
BUILT_IN = frozenset(COMMON.split())


def program_in(command: str) -> str:
    """The program that a command line starts first; empty where that is built in, a path or not plain."""
    found = SHELL_WORD.match(command.strip())
    return program_named(found["word"]) if found else ""


def program_named(name: str) -> str:
    """The program, if PATH decides which one it is and not every machine has it; else empty."""
    return name if PROGRAM.match(name) and name not in BUILT_IN else ""
