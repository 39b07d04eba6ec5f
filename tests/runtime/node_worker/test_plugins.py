"""Plugins in a Node worker: what their register function is given, and what comes of it."""

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.node_worker.talk import Message, Talk, two

from hookscope.runtime.batch import LateEvent

SEED = (Path(__file__).parent / "seeds" / "openclaw" / "example.ts").read_text()


def plugin(talk: Talk, text: str, **more: Any) -> Message:
    return talk.code("index.ts", text, **{"shape": "plugin", **more})


def registering(*statements: str) -> str:
    return "export default function register(api: any) {\n" + "\n".join(statements) + "\n}"


async def declared(talk: Talk, text: str) -> list[Message]:
    answer = await talk.load(plugin(talk, text))
    assert answer["error"] is None, answer
    rows: list[Message] = answer["module"]["declares"]
    return rows


async def logged(talk: Talk, text: str) -> list[tuple[str, str]]:
    answer = await talk.load(plugin(talk, text))
    assert answer["error"] is None, answer
    return [(line["level"], line["text"]) for line in answer["module"]["log"]]


ONE = "api.on('agent_end', () => 7);"
ENTRY = "import { definePluginEntry } from 'openclaw/plugin-sdk/plugin-entry';\n"
OLD_ENTRY = ENTRY.replace("/plugin-entry", "")


@pytest.mark.parametrize(
    "text",
    [
        registering(ONE),
        f"export function register(api: any) {{ {ONE} }}",
        f"export const register = async (api: any) => {{ await null; {ONE} }};",
        f"export default {{ id: 'p', register(api: any) {{ {ONE} }} }};",
        f"export default {{ activate(api: any) {{ {ONE} }} }};",
        f"export default {{ register(api: any) {{ this.more(api); }}, more(api: any) {{ {ONE} }} }};",
        f"export default {{ id: 'p' }};\nexport function register(api: any) {{ {ONE} }}",
        f"{ENTRY}export default definePluginEntry({{ id: 'p', register(api: any) {{ {ONE} }} }});",
        f"{OLD_ENTRY}export default definePluginEntry({{ register(api: any) {{ {ONE} }} }});",
        f"module.exports = (api: any) => {{ {ONE} }};",
        f"module.exports = {{ register(api: any) {{ {ONE} }} }};",
    ],
)
async def test_a_plugin_may_be_written_in_many_ways(text: str, talk: Talk) -> None:
    code = plugin(talk, text)
    (row,) = (await talk.load(code))["module"]["declares"]
    assert (row["key"], row["member"]) == ("agent_end", "0")
    (answer,) = await talk.run({**code, "member": "0"}, view=two({}))
    assert (answer["returned"], answer["notes"]) == (7, [])


@pytest.mark.parametrize(
    "text", ["export default { id: 'p' };", "export const x = 1;", "export default null;"]
)
async def test_what_registers_nothing_is_refused(text: str, talk: Talk) -> None:
    answer = await talk.load(plugin(talk, text))
    assert answer["module"] is None
    assert answer["error"]["type"] == "NoHandler"
    assert answer["error"]["message"].startswith("index.ts registers nothing: export a function")


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("api.on('a', f)", ("a", 0, None, {})),
        ("api.on('a', f, { priority: -5, timeoutMs: 1500 })", ("a", -5, 1.5, {})),
        ("api.on('a', f, { priority: 1.5 })", ("a", 1.5, None, {})),
        ("api.on('a', f, { priority: NaN, timeoutMs: 0 })", ("a", 0, None, {})),
        ("api.on('a', f, { priority: 'high', timeoutMs: -1 })", ("a", 0, None, {})),
        ("api.on('a', f, { matcher: ['exec'], registrationId: 'r' })",
         ("a", 0, None, {"matcher": ["exec"], "registrationId": "r"})),
        ("api.on('a', f, { eligibleTriggers: ['cron'], eligibleDispatchKinds: ['acp'],"
         " requiresToolAuthority: true })",
         ("a", 0, None, {"eligibleTriggers": ["cron"], "eligibleDispatchKinds": ["acp"],
                         "requiresToolAuthority": True})),
        ("api.registerHook({ event: 'message-sent', handler: f, priority: 100 })",
         ("message-sent", 100, None, {})),
        ("api.registerHook('command:new', f, { name: 'n', priority: 3 })",
         ("command:new", 3, None, {"name": "n", "internal": True})),
    ],
)  # fmt: skip
async def test_what_was_said_when_a_handler_was_registered_is_declared(
    statement: str, row: tuple[object, ...], talk: Talk
) -> None:
    (found,) = await declared(talk, registering("const f = () => {};", statement))
    assert tuple(found[name] for name in ("key", "priority", "limit", "options")) == row


async def test_registrations_are_numbered_in_their_order(talk: Talk) -> None:
    text = registering(
        "api.on('b', () => 'b');",
        "api.registerHook(['command:new', 'command:reset'], (event: any) => event.action);",
        "api.registerHook({ event: 'a', handler: (event: any, ctx: any) => [event.n, ctx.runId] });",
    )
    rows = await declared(talk, text)
    assert [(row["key"], row["member"]) for row in rows] == [
        ("b", "0"),
        ("command:new", "1"),
        ("command:reset", "2"),
        ("a", "3"),
    ]
    code = plugin(talk, text)
    (answer,) = await talk.run({**code, "member": "3"}, view=two({"n": 1}, {"runId": "r1"}))
    assert answer["returned"] == [1, "r1"]


async def test_an_event_that_its_host_freezes_cannot_be_changed(talk: Talk) -> None:
    code = {
        **plugin(talk, registering("api.on('a', (event: any) => { event.list.push(1); });")),
        "member": "0",
    }
    event: Message = {"list": [{}], "none": None}
    (answer,) = await talk.run(code, view={**two(event), "frozen": True})
    assert (answer["status"], answer["error"]["type"]) == ("error", "TypeError")
    assert "view" not in answer or answer["view"]["event"] == event
    (answer,) = await talk.run(code, view=two(event))
    assert answer["view"]["event"]["list"] == [{}, 1]


@pytest.mark.parametrize(("member", "returned"), [("b-c", 1), ("b_c", 1), ("0", 0), ("a", 0)])
async def test_a_handler_may_be_asked_for_by_its_event(member: str, returned: int, talk: Talk) -> None:
    code = plugin(talk, registering("api.on('a', () => 0);", "api.on('b_c', () => 1);"))
    (answer,) = await talk.run({**code, "member": member}, view=two({}))
    assert answer["returned"] == returned


async def test_a_handler_of_the_hosts_own_events_gets_the_seeds_event(talk: Talk) -> None:
    text = registering("api.registerHook('command:new', (event) => { event.messages.push(event.action); });")
    code = {**plugin(talk, text), "member": "0"}
    event = {
        "type": "command",
        "action": "new",
        "sessionKey": "s",
        "timestamp": "2026-01-01T00:00:00Z",
        "messages": [],
        "context": {},
    }
    (answer,) = await talk.run(code, view=event, hook=True, arguments=False)
    assert answer["view"] == {"messages": ["new"]}  # the host knows the rest


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("api.registerTool({ name: 't' })", [("info", "registers a tool, which Hookscope does not run")]),
        ("api.registerHttpRoute({}); api.registerHttpRoute({});",
         [("info", "registers a http route (2 times), which Hookscope does not run")]),
        ("api.registerEmbeddingProvider({})",
         [("info", "registers an embedding provider, which Hookscope does not run")]),
        ("api.onConversationBindingResolved(() => {})",
         [("info", "registers a conversation binding resolved, which Hookscope does not run")]),
        ("api.on('a')", [("warn", "registers no function for a: ignored")]),
        ("api.on(undefined, () => {})", [("warn", "registers a handler without an event: ignored")]),
        ("api.registerHook(null, () => {})", [("warn", "registers a handler without an event: ignored")]),
        ("return Promise.resolve();", [("info", "its `register` returns a promise; Hookscope awaits it")]),
    ],
)  # fmt: skip
async def test_what_is_no_hook_is_in_the_log(
    statement: str, lines: list[tuple[str, str]], talk: Talk
) -> None:
    assert await logged(talk, registering(statement)) == lines


async def test_the_api_has_what_plugins_read(talk: Talk) -> None:
    text = registering(
        "const { id, config, pluginConfig, logger, rootDir, resolvePath } = api;",
        "logger.info('hello', id); logger.child().warn('careful');",
        "const seen = [config, pluginConfig, resolvePath('x') === rootDir + '/x', typeof api.unheardOf];",
        "api.on('agent_end', () => seen);",
    )
    code = plugin(talk, text)
    await talk.load(code)
    (answer,) = await talk.run({**code, "member": "0"}, view=two({}))
    assert answer["returned"] == [{}, {}, True, "undefined"]
    with talk.worker.listening():
        printed = talk.worker.take_output(of_one=True)
    assert (printed.stdout, printed.stderr) == ("hello agent\n", "careful\n")


async def test_what_only_the_running_host_has_says_so_in_a_handler(talk: Talk) -> None:
    code = plugin(talk, registering("api.on('agent_end', () => api.runtime.subagent.run({}));"))
    (answer,) = await talk.run({**code, "member": "0"}, view=two({}))
    assert answer["error"]["type"] == "NotInstalled"
    assert answer["error"]["message"].startswith("api.runtime.subagent.run belongs to the running host")


async def test_what_only_the_running_host_has_lets_a_plugin_load(talk: Talk) -> None:
    text = registering(
        "const { runtime, lifecycle } = api;",
        "lifecycle.onDispose(() => {});",
        "if (runtime?.events?.onAgentEvent) runtime.events.onAgentEvent(() => {});",
        "const store = runtime.agent.session.openStore('x');",
        "runtime.mark = `${store.path}`;",
        "api.on('agent_end', () => [runtime.mark, typeof runtime.nodes.list, runtime.config.current()]);",
    )
    code = plugin(talk, text)
    answer = await talk.load(code)
    calls = {
        "level": "info",
        "text": "calls api.runtime.agent.session.openStore while loading, which only its host has",
    }
    assert (answer["error"], answer["module"]["log"]) == (None, [calls])
    (ran,) = await talk.run({**code, "member": "0"}, view=two({}))
    assert ran["returned"] == ["[api.runtime.agent.session.openStore().path]", "function", {}]


async def test_what_a_handler_tells_its_host_comes_to_nothing_and_is_noted(talk: Talk) -> None:
    code = plugin(
        talk, registering("api.on('agent_end', () => { api.runtime.system.enqueueSystemEvent('x', {}); });")
    )
    await talk.load(code)
    (answer,) = await talk.run({**code, "member": "0"}, view=two({}), late=1)
    assert answer["error"] is None
    assert [late.text for late in talk.told] == [
        "calls api.runtime.system.enqueueSystemEvent, which only its host has: the call is ignored"
    ]


SHIPPED: Message = {"plain": True, "id": "p"}  # under a host as it ships


@pytest.mark.parametrize(
    "text",
    [
        f"enum Kind {{ A = 'a' }}\n{registering('api.on(Kind.A, () => {});')}",
        f"const here = __dirname;\n{registering('api.on(`a${here ? 1 : 2}`, () => {});')}",
        "import { Api } from 'openclaw/plugin-sdk';\n"
        "export default { register(api: Api) { api.on('a', () => {}); } };",
        "import { names, Other } from './near.js';\nconst all: Other[] = [...names];\n"
        "export default { register(api: any) { api.on(all, () => {}); } };",
        "import { definePluginEntry } from 'openclaw/plugin-sdk/plugin-entry';\n"
        "import { createPluginRuntimeStore } from 'openclaw/plugin-sdk/runtime-store';\n"
        "import { jsonUnheardOf } from 'openclaw/plugin-sdk/tool-results';\n"
        "const store = createPluginRuntimeStore({ pluginId: 'p', errorMessage: 'none' });\n"
        "const unheard = jsonUnheardOf({ a: 1 });\n"
        "export default definePluginEntry({ register(api: any) { store.setRuntime(api.runtime);\n"
        "  api.on('a', () => [unheard, store.getRuntime()]); } });",
    ],
)
async def test_a_shipped_host_loads_what_its_own_loader_mends(text: str, talk: Talk) -> None:
    talk.code("near.ts", "export interface Other { x: 1 }\nexport const names = ['a'];\n")
    answer = await talk.load(plugin(talk, text, **SHIPPED))
    assert answer["error"] is None, answer
    assert len(answer["module"]["declares"]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import { x } from 'openclaw/plugin-sdk';\nx();", "'./plugin-sdk' is not defined by \"exports\""),
        ("import { x } from 'openclaw/plugin-sdk/nowhere';\nx();", "'./plugin-sdk/nowhere' is not defined"),
        ("import { z } from 'zod';\nz.string();", "Cannot find package 'zod'"),
        ("import { x } from 'gone';\nx();", "Cannot find package 'gone'"),
        ("export default { activate() {} };", "which its host no longer calls: rename it to register"),
        (registering("api.registerHttpHandler(() => {});"), "api.registerHttpHandler is not a function"),
    ],
)
async def test_a_shipped_host_does_not_load(text: str, message: str, talk: Talk) -> None:
    answer = await talk.load(plugin(talk, text, **SHIPPED))
    assert message in answer["error"]["message"]


async def test_an_id_that_is_not_the_manifests_is_told(talk: Talk) -> None:
    answer = await talk.load(plugin(talk, "export default { id: 'q', register() {} };", **SHIPPED))
    assert answer["module"]["asked"] == ["misnamed\np\nq"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (registering("api.on('a', () => {}); throw new Error('half-way');"), "half-way"),
        ("export async function register() { await null; throw undefined; }", "undefined"),
        ("export function register() { return new Promise((_, no) => setTimeout(no, 1, 'late')); }", "late"),
        ("export function register() { setImmediate(() => { throw new Error('aside'); });"
         " return new Promise(() => {}); }", "aside"),
    ],
)  # fmt: skip
async def test_a_register_that_throws_does_not_load(text: str, message: str, talk: Talk) -> None:
    answer = await talk.load(plugin(talk, text))
    assert (answer["module"], answer["error"]["message"]) == (None, message)


async def test_a_registration_after_register_is_told(talk: Talk) -> None:
    text = registering("api.on('a', () => { api.on('b', () => 7); });")
    code = {**plugin(talk, text), "member": "0"}
    await talk.run(code, view=two({}), late=1)
    text = "registers a handler of b after `register`: it is called from the next event on"
    assert talk.told == [LateEvent("hook0", None, text)]
    (added,) = talk.worker.late_handlers
    row: Any = added.declaration
    (answer,) = await talk.run({**code, "member": "1"}, view=two({}))
    assert (row["key"], row["member"], answer["returned"]) == ("b", "1", 7)


async def test_a_thousand_handlers_are_declared_and_run(talk: Talk) -> None:
    code = plugin(talk, registering("for (let n = 0; n < 1000; n += 1) api.on('e' + n, () => n);"))
    rows = (await talk.load(code))["module"]["declares"]
    assert [row["member"] for row in rows] == [str(n) for n in range(1000)]
    (answer,) = await talk.run({**code, "member": "999"}, view=two({}))
    assert answer["returned"] == 999


async def test_more_handlers_than_a_frame_holds_are_left_out_and_said(talk: Talk) -> None:
    text = registering(
        "const options = { matcher: 'm'.repeat(15000) };",
        "for (let n = 0; n < 1000; n += 1) api.on('e', () => n, options);",
    )
    answer = await talk.load(plugin(talk, text))
    kept = len(answer["module"]["declares"])
    assert 200 < kept < 1000
    assert answer["module"]["log"] == [
        {"level": "error", "text": f"it has too many handlers: the last {1000 - kept} are ignored"}
    ]


async def test_options_that_json_cannot_hold_are_named(talk: Talk) -> None:
    text = registering("const self: any = { fn() {} }; self.self = self; api.on('a', () => {}, self);")
    answer = await talk.load(plugin(talk, text))
    (row,) = answer["module"]["declares"]
    assert row["options"]["fn"] == "<function>"
    assert any("options of a.self" in line["text"] for line in answer["module"]["log"])


async def test_the_guides_audit_plugin_runs_as_printed(talk: Talk) -> None:
    top = "const auditLog = { record: async (row: any) => console.log(row.sessionKey, row.direction) };\n"
    code = plugin(talk, top + registering(SEED))
    (row,) = (await talk.load(code))["module"]["declares"]
    assert (row["key"], row["priority"]) == ("message-sent", 100)
    event = {"sessionKey": "s1", "channel": "telegram", "senderId": "u", "direction": "sent"}
    (answer,) = await talk.run({**code, "member": "0"}, view=two(event))
    assert (answer["status"], answer["returned"]) == ("ok", None)
    with talk.worker.listening():
        assert talk.worker.take_output(of_one=True).stdout == "s1 sent\n"


@pytest.mark.parametrize(
    "using",
    [
        r"/^https?:\/\//.test('https://x') && value",
        r"(4 / 2, /[/*]/.test('/'), value) // a comment",
        "`${`//`}${value}`.slice(2)",
        "`${true ? `http://${value}` : ''}/x`.slice(7, -2)",
        "[`}`, { of: `{` }, value][2] /* a comment */",
        "('//' + 8 / value / 2, value)",
    ],
)
async def test_an_import_that_is_used_stays_whatever_stands_before_it(using: str, talk: Talk) -> None:
    """A `//` in a regular expression or in an inner template is not a comment."""
    (talk.root / "lib.ts").write_text("export const value = 7;\nexport interface Only {}\n")
    imports = "import { value, Only } from './lib.ts';\n"
    text = f"{imports}const one: Only = {using};\n" + registering("api.on('agent_end', () => Number(one));")
    code = plugin(talk, text)
    assert (await talk.load(code))["error"] is None
    (answer,) = await talk.run({**code, "member": "0"}, view=two({}))
    assert answer["returned"] == 7
