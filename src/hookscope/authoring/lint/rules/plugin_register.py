"""A plugin registers its hooks in a way that makes the host reject the whole plugin.

`register` must not be `async`, because the host does not wait for it. `registerHook` needs a `name` in its
options. In either case the host loads nothing from the plugin.

Host: openclaw@2026.9

Bad:
    openclaw.plugin.json
        {"id": "memory", "configSchema": {}}
    index.ts
        export default { id: "memory", async register(api) { api.on("session_end", save); } };

Good:
    openclaw.plugin.json
        {"id": "memory", "configSchema": {}}
    index.ts
        export default { id: "memory", register(api) { api.on("session_end", save); } };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error
from hookscope.formats.script_source import call_arguments, object_members
from hookscope.formats.script_tokens import TokenizedScript, read_script
from hookscope.model.hook import FilePosition

ASYNC = (
    ("async", "register", "("),
    ("register", ":", "async"),
    ("register", "=", "async"),
    ("async", "function", "register", "("),
    ("export", "default", "async"),
)

DEEPEST = 2  # brackets around a plugin's own `register`: `definePluginEntry({ register … })`


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook = subject.hook
    if hook is None or hook.kind != "plugin" or hook.language == "python" or not subject.host.loads_like_node:
        return
    script = read_script(subject.text.encode())
    if script is None or subject.handler is None:
        return
    for at, token in enumerate(script.tokens):
        place = FilePosition(subject.handler, token.line)
        if _is_async_register(script, at):
            text = "`register` is async, so the host rejects the plugin: plugin register must be synchronous."
            yield error(place, text, "Register first, and start slow work without waiting for it.")
        elif script.is_at(at, "registerHook", "(") and _is_unnamed(script, at + 1):
            text = (
                "`registerHook` is called without a name, so the host rejects the plugin: "
                "hook registration missing name."
            )
            yield error(place, text, 'Add `{ name: "…" }` as its third argument.')


def _is_async_register(script: TokenizedScript, at: int) -> bool:
    """Return whether the plugin's own `register` begins here, and is async."""
    if script.is_at(at - 1, ".") or not any(script.is_at(at, *texts) for texts in ASYNC):
        return False
    around = sum(opened < at < closed for opened, closed in script.partner.items())
    return around <= DEEPEST


def _is_unnamed(script: TokenizedScript, bracket: int) -> bool:
    """Return whether this call of `registerHook` clearly has no name among its options."""
    arguments = call_arguments(script, bracket)
    if (
        arguments is None
        or not 2 <= len(arguments) <= 3
        or any(script.is_at(at, "...") for at, _ in arguments)
    ):
        return False
    if len(arguments) == 2:
        return True
    members = object_members(script, arguments[2][0])
    return members is not None and all(member.name != "name" for member in members)


RULE = Rule("plugin-register", __doc__, check, depends_on_host=True)
