"""The host's settings withhold an event from a plugin, so its handler for that event is never called.

A plugin gets conversation events only if its entry in the settings has `allowConversationAccess: true`, and
prompt events unless it has `allowPromptInjection: false`. The host drops the plugin's
handlers for withheld events without an error; the rest of the plugin runs.

Host: openclaw@2026.9

Bad:
    openclaw.plugin.json
        {"id": "memory", "configSchema": {}}
    index.ts
        export default (api) => { api.on("agent_end", save); api.on("session_end", save); };

Good:
    openclaw.plugin.json
        {"id": "memory", "configSchema": {}}
    index.ts
        export default (api) => { api.on("session_end", save); };
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, warning


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    hook = subject.hook
    if hook is None or hook.kind != "plugin":
        return
    for key in hook.meta.events or ():
        if key in hook.meta.excluded_events and key not in hook.meta.folder_events:
            text = (
                f"{subject.host.product} withholds `{key}` from the plugin: {hook.meta.excluded_events[key]}."
            )
            yield warning(subject.event_position(key), text, f"`hookscope fix {hook.name}` shows the edit.")


RULE = Rule("events-denied", __doc__, check, depends_on_host=True)
