"""The script that a shell reads once. Those of zsh and fish are click's own.

Bash takes a colon for the end of a word, and event keys have colons: ours puts such words together again, and
gives back what stands behind the colon.
"""

from __future__ import annotations

from click.shell_completion import FishComplete, ZshComplete

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "hookscope", "_HOOKSCOPE_COMPLETE"
BASH = """\
_hookscope_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" current before="" kind value
    local -a words
    read -r -a words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    current="${words[${#words[@]}-1]}"
    if [[ "$COMP_WORDBREAKS" == *:* && "$current" == *:* ]]; then
        before="${current%"${current##*:}"}"
    fi
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case "$kind" in
            plain) COMPREPLY+=("${value#"$before"}") ;;
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
        esac
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
        _HOOKSCOPE_COMPLETE=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F _hookscope_completion hookscope 2>/dev/null ||
    complete -F _hookscope_completion hookscope
"""
READ_BY = {
    "bash": 'eval "$(hookscope completion bash)"',
    "zsh": 'eval "$(hookscope completion zsh)"',
    "fish": "hookscope completion fish | source",
}


def script_of(shell: str) -> str:
    """What this shell is to read."""
    if shell == "bash":
        return BASH
    names = {"complete_func": "_hookscope_completion", "complete_var": VARIABLE, "prog_name": PROGRAM}
    template = ZshComplete.source_template if shell == "zsh" else FishComplete.source_template
    return template % names
