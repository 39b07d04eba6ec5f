"""A plugin's handler uses member names from another program's hooks.

Claude Code's hooks receive `tool_name` and `tool_input`, and return `decision`. In a plugin, such members of
the event are undefined and such a return value has no effect; neither causes an error.

Host: openclaw@2026.9

Bad:
    openclaw.plugin.json
        {"id": "guard", "configSchema": {}}
    index.ts
        export default (api) => { api.on("before_tool_call", (event) => { console.log(event.tool_name); }); };

Good:
    openclaw.plugin.json
        {"id": "guard", "configSchema": {}}
    index.ts
        export default (api) => { api.on("before_tool_call", (event) => { console.log(event.toolName); }); };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning
from hookscope.formats.script_source import object_members
from hookscope.formats.script_tokens import TokenizedScript, read_script
from hookscope.hosts.source.facts import EVENT_NAMES
from hookscope.model.hook import FilePosition

OF_OTHERS = {  # members of an event in other programs → here
    "hook_event_name": "",
    "session_id": "`ctx.sessionId`",
    "tool_input": "`event.params`",
    "tool_name": "`event.toolName`",
    "tool_output": "`event.result`",
    "tool_response": "`event.result`",
    "transcript_path": "",
}
ANSWERS = frozenset({"allow", "decision", "hookSpecificOutput", "permissionDecision"})
GATE = "before_tool_call"  # the event for which other programs' return values are intended


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook = subject.hook
    if hook is None or hook.kind != "plugin" or hook.language == "python" or subject.handler is None:
        return
    script = read_script(subject.text.encode())
    if script is None:
        return
    known = {field for event in subject.received_events() for field in event.fields}
    names: set[str] = set()
    for at, token in enumerate(script.tokens):
        if token.text not in OF_OTHERS or token.text in known or token.text in names:
            continue
        if (script.is_at(at - 1, ".") or script.is_at(at - 1, "?.")) and _is_event(script, at - 2):
            names.add(token.text)
            better = OF_OTHERS[token.text]
            advice = f"Write {better}." if better else "`hookscope events KEY` shows the fields."
            where = FilePosition(subject.handler, token.line)
            yield warning(where, f"No event of a plugin has `event.{token.text}`.", advice)
    yield from _answers(script, subject)


def _is_event(script: TokenizedScript, at: int) -> bool:
    return script.kind_at(at) == "name" and EVENT_NAMES.match(script.tokens[at].text) is not None


def _answers(script: TokenizedScript, subject: LintSubject) -> Iterator[RuleMessage]:
    """Yield a message if the handler returns another program's answer and never mentions `block`."""
    if subject.events != (GATE,) or any(token.text == "block" for token in script.tokens):
        return
    for at, token in enumerate(script.tokens):
        members = object_members(script, at + 1) if script.is_at(at, "return", "{") else None
        found = next((member.name for member in members or () if member.name in ANSWERS), None)
        if found is not None:
            text = f"The handler returns `{found}`, which the host ignores: the tool runs."
            where = FilePosition(subject.handler or subject.folder, token.line)
            yield warning(
                where, text, "`{ block: true, blockReason }` stops a tool; return nothing to let it run."
            )
            return


RULE = Rule("plugin-member", __doc__, check, depends_on_host=True)
