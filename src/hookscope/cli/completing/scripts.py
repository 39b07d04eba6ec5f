"""The script that a shell reads once. At each tab it passes the line up to the cursor, and reads lines back.

The script starts the program that printed it, by its absolute path, and no other program: a `hookscope` in
the current folder is never started by a tab. Errors are not printed: they would appear in the middle of the
line that the user is typing.
"""

from __future__ import annotations

import os
import sys
from shlex import quote

SHELLS = ("bash", "zsh", "fish")
BASH = """\
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
ZSH = """\
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
FISH = """\
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
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
READ_BY = {
    "bash": 'eval "$(hookscope completion bash)"',
    "zsh": 'eval "$(hookscope completion zsh)"',
    "fish": "hookscope completion fish | source",
}


def script_of(shell: str) -> str:
    """What this shell is to read."""
    return SCRIPTS[shell].replace("{program}", _program())


def _program() -> str:
    """The running program as words of a shell, independent of the current folder and of PATH."""
    started = os.path.abspath(sys.argv[0])
    if os.path.basename(started) == "hookscope" and os.path.isfile(started) and os.access(started, os.X_OK):
        return quote(started)
    return " ".join(map(quote, (sys.executable, "-P", "-m", "hookscope")))
