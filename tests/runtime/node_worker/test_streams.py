"""Stream hooks in a Node worker: their shapes, their context, what they ask for."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from tests.runtime.node_worker.talk import Message, Talk, two

from hookscope.runtime.batch import LateEvent

SEEDS = Path(__file__).parent / "seeds"
CTX = {
    "agent": {"name": "case-app", "nodeId": None},
    "channel": {"kind": "http", "continuationToken": None},
    "session": {
        "id": "s1",
        "auth": {"current": None},
        "turn": {"id": "turn_0", "sequence": 0},
        "parent": None,
        "schedule": None,
        "predecessor": None,
    },
}


def hook(body: str, key: str = "turn.started") -> str:
    """A stream hook with one handler of these statements."""
    return f"export default {{ events: {{ async '{key}'(event: any, ctx: any) {{ {body} }} }} }};"


def handler_of(code: Message, member: str = "turn.started") -> Message:
    return {**code, "member": member}


def turn(**data: Any) -> Message:
    return {"type": "turn.started", "data": data, "meta": {"id": "evt_1", "at": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("export default {};", []),
        ("export default { events: undefined };", []),
        ("export default { events: { 'turn.started': undefined, '*': () => {} } };", ["*"]),
        ("export default { events: { 'no.such': () => {} }, priority: 5 };", ["no.such"]),
        ("export default () => ({ events: { 'turn.completed': () => {} } });", ["turn.completed"]),
        ("export default async () => ({ events: { b() {}, a() {}, 'x.y'() {} } });", ["b", "a", "x.y"]),
        (
            "import { defineHook } from 'eve/hooks';\nexport default defineHook({ events: { '*'() {} } });",
            ["*"],
        ),
        ("export default { events: new Proxy({ a() {}, b() {} }, {}) };", ["a", "b"]),
        ("class E { constructor() { this.a = () => {}; } }\nexport default { events: new E() };", ["a"]),
    ],
)  # fmt: skip
async def test_a_module_declares_its_handlers_in_its_own_order(
    text: str, keys: list[str], talk: Talk
) -> None:
    answer = await talk.load(talk.code("hooks/audit.mjs", text))
    assert answer["error"] is None, answer
    assert [row["key"] for row in answer["module"]["declares"]] == keys
    assert [row["member"] for row in answer["module"]["declares"]] == keys
    assert answer["module"]["log"] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("export const hook = { events: {} };", "to return an object."),
        ("export default null;", "to return an object."),
        ("export default [];", "to return an object."),
        ("export default () => undefined;", "to return an object."),
        ("export default Promise.resolve({ events: null });", "to expose events as an object."),
        ("export default { events: [] };", "to expose events as an object."),
        (
            "export default { events: { 'turn.started': 'x' } };",
            "to provide a function for events.turn.started.",
        ),
        (
            "export default { events: { a() {}, 'turn.started': null } };",
            "to provide a function for events.turn.started.",
        ),
    ],
)
async def test_what_is_no_hook_is_refused_as_eve_refuses_it(text: str, what: str, talk: Talk) -> None:
    answer = await talk.load(talk.code("hooks/bad.ts", text))
    assert answer["module"] is None
    assert answer["error"]["type"] == "Malformed"
    assert answer["error"]["message"] == f'Expected the hook export "default" from "hooks/bad.ts" {what}'


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        ("throw new RangeError('no')", "RangeError", "no"),
        ("export default () => { throw undefined; }", "Malformed", '"hooks/bad.mjs": undefined'),
        ("export default async () => { throw { a: 1 }; }", "Malformed", ': {"a":1}'),
        ("const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); export default { events: proxy };",
         "TypeError", "Cannot perform"),
        ("export default { get events() { throw new Error('peeped'); } };", "Error", "peeped"),
    ],
)  # fmt: skip
async def test_a_module_that_throws_does_not_load(text: str, type_: str, message: str, talk: Talk) -> None:
    error = (await talk.load(talk.code("hooks/bad.mjs", text)))["error"]
    assert error["type"] == type_
    assert message in error["message"]


async def test_a_hashbang_is_no_line_of_a_module_that_is_bundled(talk: Talk) -> None:
    answer = await talk.load(talk.code("hooks/audit.ts", "#!/usr/bin/env node\nexport default {};"))
    assert answer["error"]["message"] == (
        "line 1 of audit.ts: `#!` is not allowed in a module that is bundled: remove the line."
    )


async def test_imports_keep_what_is_used_and_lines_stay_where_they_are(talk: Talk) -> None:
    talk.code("lib/shapes.ts", "export const one = 1;\nexport type Two = 2;\nexport interface Three {}\n")
    text = (
        "import { one, Two,\n  Three as Four } from '../lib/shapes';\n"
        "import * as all from '../lib/shapes';\n"
        "const two = (it: Two, other: Four): Two => it;\n"
        "export default { events: { 'turn.started'() { throw new Error(`${one} ${all.one}`); } } };"
    )
    code = talk.code("hooks/audit.ts", text)
    (answer,) = await talk.run(handler_of(code), view=two(turn()))
    assert answer["error"]["message"] == "1 1"
    assert answer["error"]["frames"][-1]["line"] == 5


async def test_more_handlers_than_a_frame_holds_are_left_out_and_said(talk: Talk) -> None:
    made = "Object.fromEntries(Array.from({ length: 200000 }, (_, n) => ['key.' + n, () => {}]))"
    answer = await talk.load(talk.code("hooks/many.mjs", f"export default {{ events: {made} }};"))
    kept = len(answer["module"]["declares"])
    assert 10_000 < kept < 200_000
    text = f"it has too many handlers: the last {200_000 - kept} are ignored"
    assert answer["module"]["log"] == [{"level": "error", "text": text}]


async def test_a_module_is_evaluated_once_for_all_its_handlers(talk: Talk) -> None:
    text = "let n = 0;\nconst count = () => ++n;\nexport default { events: { a: count, '*': count } };"
    code = talk.code("hooks/audit.mjs", text)
    await talk.load(code)
    answers = await talk.run(handler_of(code, "a"), handler_of(code, "*"), view=two(turn()))
    assert [answer["returned"] for answer in answers] == [1, 2]
    again = (await talk.load(code))["module"]
    assert [row["key"] for row in again["declares"]] == ["a", "*"]


async def test_a_handler_that_is_not_there_is_named(talk: Talk) -> None:
    code = talk.code("hooks/audit.ts", hook(""))
    (answer,) = await talk.run(handler_of(code, "gone"), view=two(turn()))
    assert answer["phase"] == "load"
    assert answer["error"]["message"] == "it has no handler `gone`; it has `turn.started`"


async def test_a_context_has_all_keys_that_eve_gives_it(talk: Talk) -> None:
    text = hook(
        "return [Object.keys(event), Object.keys(ctx).sort(), Object.keys(ctx.channel).sort(), ctx.agent,"
        " Object.keys(ctx.session).sort(), ctx.session.parent === undefined, ctx.session.auth];"
    )
    code = handler_of(talk.code("hooks/ctx.ts", text))
    (answer,) = await talk.run(code, view=two(turn(), CTX, methods=["cancel", "getSandbox"]))
    assert answer["returned"] == [
        ["type", "data", "meta"],
        ["agent", "cancel", "channel", "getSandbox", "session"],
        ["continuationToken", "kind"],
        {"name": "case-app"},
        ["auth", "id", "parent", "predecessor", "schedule", "turn"],
        True,
        {"current": None},
    ]
    assert "view" not in answer


async def test_later_handlers_see_what_earlier_ones_changed_and_what_they_threw_costs_nothing(
    talk: Talk,
) -> None:
    first = talk.code(
        "hooks/a.ts", hook("event.data.changedBy = 'a'; ctx.session.id = 'mine'; throw undefined;")
    )
    second = talk.code("hooks/b.ts", hook("return [event.data.changedBy, ctx.session.id];"))
    answers = await talk.run(handler_of(first), handler_of(second), view=two(turn(sequence=0), CTX))
    assert [answer["status"] for answer in answers] == ["error", "ok"]
    assert answers[0]["error"]["message"] == "undefined"
    assert answers[0]["view"] == two(turn(sequence=0, changedBy="a"), CTX)
    assert answers[1]["returned"] == ["a", "s1"]
    assert "view" not in answers[1]


async def test_what_each_handler_asked_is_in_its_own_answer(talk: Talk) -> None:
    asks, quiet = talk.code("hooks/a.ts", hook("ctx.cancel();")), talk.code("hooks/b.ts", hook("await null;"))
    calls = [handler_of(asks), handler_of(quiet), handler_of(asks)]
    answers = await talk.run(*calls, view=two(turn(), methods=["cancel"]))
    assert [answer.get("view", {}).get("asked") for answer in answers] == [["cancel"], None, ["cancel"] * 2]
    assert answers[0]["view"]["event"] == turn()


async def test_a_cancel_that_comes_late_is_told(talk: Talk) -> None:
    code = handler_of(talk.code("hooks/late.ts", hook("setTimeout(() => ctx.cancel(), 30);")))
    (answer,) = await talk.run(code, view=two(turn(), methods=["cancel"]), late=1)
    assert "view" not in answer
    text = "ctx.cancel() ignored: the event's hooks already returned"
    assert talk.told == [LateEvent("hook0", None, text)]


@pytest.mark.parametrize(
    ("method", "what"), [("getSandbox", "no sandbox"), ("getSkill", "no sandbox"), ("fly", "no ctx.fly()")]
)
async def test_what_only_a_host_can_give_rejects(method: str, what: str, talk: Talk) -> None:
    code = handler_of(talk.code("hooks/a.ts", hook(f"await ctx.{method}('x');")))
    (answer,) = await talk.run(code, view=two(turn(), methods=[method]))
    assert answer["error"]["type"] == "NotHere"
    assert answer["error"]["message"].startswith(f"Hookscope has {what}: ctx.{method}() works where its host")
    assert [frame["line"] for frame in answer["error"]["frames"]] == [1]


@pytest.mark.parametrize(
    ("body", "returned", "asked"),
    [
        ("return 1", 1, []),
        ("return Promise.resolve(1)", None, ["promise"]),
        ("return { then() {} }", None, ["promise"]),
        ("ctx.cancel(); return { then: 1 }", {"then": 1}, ["cancel"]),
    ],
)
async def test_a_handler_that_must_answer_at_once_gives_no_promise(
    body: str, returned: object, asked: list[str], talk: Talk
) -> None:
    code = talk.code("h.mjs", f"export default (event, ctx) => {{ {body}; }}", shape="arguments")
    (answer,) = await talk.run(code, view=two({}, methods=["cancel"], sync=True))
    assert (answer["status"], answer["returned"]) == ("ok", returned)
    assert answer.get("view", two({}))["asked"] == asked


async def test_a_promise_that_is_ignored_may_fail_late(talk: Talk) -> None:
    text = "export default async () => { await null; throw new Error('unheard'); }"
    await talk.run(talk.code("h.mjs", text, shape="arguments"), view=two({}, sync=True), late=1)
    (late,) = talk.told
    assert late.hook == "hook0"
    assert isinstance(late.error, dict)
    assert late.error["message"] == "unheard"


@pytest.mark.parametrize(
    "body",
    [
        "for (const key of Object.keys(ctx)) delete ctx[key];",
        "Object.freeze(event); Object.freeze(event.data);",
        "ctx.session = new Proxy({}, { get() { throw 1; } }); throw undefined;",
        "event.data.self = event; event.data.fn = () => 1; event.data.big = 10n;",
        "ctx.asked = ctx.methods = 1; delete event.type;",
    ],
)
async def test_what_a_handler_does_to_its_arguments_harms_no_other(body: str, talk: Talk) -> None:
    bad = handler_of(talk.code("hooks/bad.ts", hook(body)))
    good = handler_of(talk.code("hooks/good.ts", hook("return [typeof event.data, ctx.session.id];")))
    answers = await talk.run(bad, good, view=two(turn(n=1), CTX, methods=["cancel"]))
    assert [answer["dirty"] for answer in answers] == [False, False]
    assert answers[1]["returned"] == ["object", "s1"]


async def test_the_guides_audit_hook_runs_as_printed(talk: Talk) -> None:
    copytree(SEEDS / "eve" / "agent", talk.root, dirs_exist_ok=True)
    code = talk.code("hooks/audit.ts")
    declared = (await talk.load(code))["module"]["declares"]
    assert [row["key"] for row in declared] == ["session.started", "message.completed"]
    event = {"type": "message.completed", "data": {"message": "four"}}
    with talk.worker.listening():
        (started,) = await talk.run(handler_of(code, "session.started"), view=two(turn(), CTX))
        assert talk.worker.take_output(of_one=True).stdout == "session started { sessionId: 's1' }\n"
        (ended,) = await talk.run(handler_of(code, "message.completed"), view=two(event, CTX))
        assert talk.worker.take_output(of_one=True).stdout == "model finished { length: 4 }\n"
    assert (started["notes"], ended["notes"]) == ([], [])


def result(tool: str, output: object = None, **more: Any) -> Message:
    found = {"kind": "tool-result", "callId": "c1", "toolName": tool, "output": output, **more}
    return {"type": "action.result", "data": {"result": found}}


BESIDE = (("tool", "get-weather", "tools/get-weather.ts"), ("connection", "linear", "connections/linear.ts"))


@pytest.mark.parametrize(
    ("event", "printed"),
    [
        (result("get-weather", {"temperature": 21}), "21\n"),
        (result("linear__list_issues", [1]), "list_issues [ 1 ]\n"),
        (result("linear"), ""),
        (result("get-weather", {"temperature": 21}, isError=True), ""),
        (result("get-weather", {"temperature": 21}, kind="subagent-result"), ""),
        (result("other"), ""),
    ],
)
async def test_the_guides_hook_narrows_tool_results(event: Message, printed: str, talk: Talk) -> None:
    copytree(SEEDS / "eve" / "agent", talk.root, dirs_exist_ok=True)
    beside = [{"kind": kind, "name": name, "path": str(talk.root / path)} for kind, name, path in BESIDE]
    code = talk.code("hooks/results.ts", beside=beside)
    answer = await talk.load(code)
    sentence = "zod is not installed here: its schemas accept everything"
    assert answer["module"]["log"] == [{"level": "info", "text": sentence}]
    (ran,) = await talk.run(handler_of(code, "action.result"), view=two(event, CTX))
    assert (ran["status"], ran["notes"]) == ("ok", []), ran
    with talk.worker.listening():
        assert talk.worker.take_output(of_one=True).stdout == printed


async def test_the_very_object_decides_and_not_its_name(talk: Talk) -> None:
    talk.code("tools/a.mjs", "export default { execute() {} };")
    talk.code("tools/broken.mjs", "throw new TypeError('no such thing');")
    text = (
        "import { toolResultFrom } from 'eve/tools';\nimport a from '../tools/a.mjs';\n"
        "const copy = { ...a };\nexport default { events: { '*': (event) => [a, copy, {}, undefined]"
        ".map((one) => toolResultFrom(event.data.result, one) ?? null) } };"
    )
    beside = [
        {"kind": "tool", "name": name, "path": str(talk.root / f"tools/{name}.mjs")}
        for name in ("broken", "a")
    ]
    code = talk.code("hooks/h.mjs", text, beside=beside)
    log = (await talk.load(code))["module"]["log"]
    text = "the tool broken did not load, so no result matches it: TypeError: no such thing"
    assert log == [{"level": "warn", "text": text}]
    (answer,) = await talk.run(handler_of(code, "*"), view=two(result("a", 5)))
    assert answer["returned"] == [{"callId": "c1", "output": 5, "toolName": "a"}, None, None, None]


async def test_a_changed_tool_is_known_by_its_new_object(talk: Talk) -> None:
    text = (
        "import { toolResultFrom } from 'eve/tools';\nimport a from '../tools/a.mjs';\n"
        "export default { events: { '*': (event) => [a.n, !!toolResultFrom(event.data.result, a)] } };"
    )
    returned = []
    for n in (1, 2):
        talk.code("tools/a.mjs", f"export default {{ n: {n} }};")
        path = str(talk.root / "tools/a.mjs")
        code = talk.code("hooks/h.mjs", text, beside=[{"kind": "tool", "name": "a", "path": path}])
        (answer,) = await talk.run(handler_of(code, "*"), view=two(result("a")))
        returned.append(answer["returned"])
    assert returned == [[1, True], [2, True]]


async def test_a_hook_that_fails_leaves_its_neighbours_in_their_world(talk: Talk) -> None:
    talk.code("lib/count.mjs", "let n = 0;\nexport default () => ++n;")
    text = "import count from '../lib/count.mjs';\nexport default { events: { '*': count } };"
    for name in ("a", "c"):
        talk.code(f"hooks/{name}.mjs", text)
    bad = talk.code("hooks/b.mjs", "throw 1;")
    a, c = talk.code("hooks/a.mjs", member="*"), talk.code("hooks/c.mjs", member="*")
    assert (await talk.load(a))["error"] is None
    for _ in range(2):
        assert (await talk.load(bad))["error"]["message"] == "1"
    answers = await talk.run(a, c, view=two(turn()))
    assert [answer["returned"] for answer in answers] == [1, 2]


async def test_the_last_version_that_loaded_runs_where_the_new_one_does_not(talk: Talk) -> None:
    good = talk.code("hooks/a.ts", hook("return 'good';"))
    await talk.run(handler_of(good), view=two(turn()))
    bad = talk.code("hooks/a.ts", "export default 1;")
    (answer,) = await talk.run(handler_of(bad), view=two(turn()))
    assert (answer["returned"], answer["error"]) == ("good", None)
    assert answer["stale"]["message"].startswith("Expected the hook export")
    assert (await talk.load(bad))["error"]["message"].startswith("Expected the hook export")


SLOT = (
    "import { defineState, type StateHandle } from 'eve/context';\n"
    "export const tally: StateHandle<string[]> = defineState('shop.tally', () => ['new']);\n"
)


def in_session(name: str) -> Message:
    return two(turn(), {"session": {"id": name}})


async def test_each_session_has_slots_of_its_own_that_modules_share(talk: Talk) -> None:
    talk.code("lib/tally.ts", SLOT)
    adds = hook("await null; tally.update((all: string[]) => [...all, ctx.session.id]); return tally.get();")
    add = talk.code("hooks/add.ts", f"import {{ tally }} from '../lib/tally';\n{adds}")
    tells = "import { defineState } from 'eve/context';\nconst same = defineState('shop.tally', () => 0);\n"
    tell = talk.code("hooks/tell.ts", tells + hook("return same.get();"))
    seen = []
    for session in ("s1", "s2", "s1"):
        answers = await talk.run(handler_of(add), handler_of(tell), view=in_session(session))
        assert [answer["notes"] for answer in answers] == [[], []]
        seen.append([answer["returned"] for answer in answers])
    once, twice = ["new", "s1"], ["new", "s1", "s1"]
    assert seen == [[once, once], [["new", "s2"], ["new", "s2"]], [twice, twice]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tally.get();", 'get() of the state "shop.tally" was called outside a handler'),
        ("tally.update(() => []);", 'update() of the state "shop.tally" was called outside a handler'),
        ("defineState('eve.tally', () => 0);", 'names that begin with "eve." are reserved by Eve'),
    ],
)  # fmt: skip
async def test_a_slot_that_no_session_can_give_is_an_error_as_in_eve(
    line: str, words: str, talk: Talk
) -> None:
    answer = await talk.load(talk.code("hooks/a.ts", f"{SLOT}{line}\nexport default {{}};"))
    assert words in answer["error"]["message"]
