"""What hooks import of packages that are not installed where Hookscope runs them."""

from typing import Any

import pytest
from tests.runtime.node_worker.talk import Message, Talk, two


def tool(talk: Talk, text: str, **more: Any) -> Message:
    return talk.code("tools/t.ts", text, **{"shape": "tool", **more})


def agent(talk: Talk, model: str, top: str = "") -> Message:
    text = (
        "import { defineAgent } from 'eve';\nimport { mockModel } from 'eve/evals';\n"
        f"{top}\nexport default defineAgent({{ model: {model} }});"
    )
    return talk.code("agent.ts", text, shape="model")


async def test_a_tool_executes_with_its_context(talk: Talk) -> None:
    text = (
        "import { defineTool } from 'eve/tools';\nimport { z } from 'zod';\nexport default defineTool({\n"
        "  inputSchema: z.object({ a: z.number(), b: z.number() }),\n"
        "  base: 10,\n"
        "  execute({ a, b }: any, { callId: call }: any) { return { sum: this.base + a + b, call }; },\n"
        "});"
    )
    code = tool(talk, text)
    (first,) = await talk.run(code, view=two({"a": 2, "b": 3}, {"callId": "c1"}))
    assert first["returned"] == {"sum": 15, "call": "c1"}
    assert first["notes"] == ["zod is not installed here: its schemas accept everything"]
    (second,) = await talk.run(code, view=two({"a": 0, "b": 0}))
    assert second["notes"] == []


async def test_what_is_no_tool_is_refused(talk: Talk) -> None:
    (answer,) = await talk.run(tool(talk, "export default { description: 'x' };"), view=two({}))
    assert (answer["phase"], answer["error"]["type"]) == ("load", "NoHandler")
    assert "has no execute(input, ctx)" in answer["error"]["message"]


REPLIES = "['one', { toolCalls: [{ name: 't' }] }, { fail: 'model is down' }]"


@pytest.mark.parametrize(
    ("model", "request_", "reply"),
    [
        ("mockModel()", {}, "Mock response"),
        ("mockModel('hi')", {}, "hi"),
        ("mockModel({ modelId: 'm', respond: 'hi' })", {}, "hi"),
        ("mockModel(({ lastUserMessage }: any) => `Echo: ${lastUserMessage}`)", {"lastUserMessage": "x"},
         "Echo: x"),
        ("mockModel(async ({ messages }: any) => ({ text: String(messages) }))", {}, {"text": ""}),
        (f"mockModel({REPLIES})", {"toolResults": []}, "one"),
        (f"mockModel({REPLIES})", {"toolResults": [{}]}, {"toolCalls": [{"name": "t"}]}),
    ],
)  # fmt: skip
async def test_a_scripted_model_answers(model: str, request_: Message, reply: object, talk: Talk) -> None:
    (answer,) = await talk.run(agent(talk, model), view=two(request_))
    assert (answer["error"], answer["returned"]) == (None, reply)


NO_REPLY = 'mockModel responders must return text or at least one item in "toolCalls".'


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (f"mockModel({REPLIES})", "model is down"),
        ("mockModel(() => { throw new Error('model is down'); })", "model is down"),
        ("mockModel(() => ({}))", NO_REPLY),
        ("mockModel(() => undefined)",
         NO_REPLY),
        ("'provider/some-model'",
         'agent.ts has no scripted model: set its model to mockModel(…) from "eve/evals"'),
    ],
)  # fmt: skip
async def test_a_model_that_does_not_answer_says_why(model: str, message: str, talk: Talk) -> None:
    (answer,) = await talk.run(agent(talk, model), view=two({"toolResults": [{}, {}, {}]}))
    assert answer["error"]["message"] == message


@pytest.mark.parametrize(
    ("statement", "expression"),
    [
        ("import { defineAgent as a, defineDynamic as d } from 'eve'", "a(x) === x && d(x) === x"),
        ("import { defineHook } from 'eve/hooks'", "defineHook(x) === x"),
        ("import * as hooks from 'eve/hooks'", "hooks.defineHook(x) === x"),
        ("import { defineTool as d, disableTool } from 'eve/tools'", "d(x) === x && disableTool() !== x"),
        ("import { defineConnection as a, defineMcpClientConnection as b, defineOpenAPIConnection as c }"
         " from 'eve/connections'", "a(x) === x && b(x) === x && c(x) === x"),
        ("import { defineChannel, POST } from 'eve/channels'",
         "defineChannel(x) === x && POST('/a', x).handler === x"),
        ("import { defineInstructions as i } from 'eve/instructions'", "i(x) === x"),
        ("import { defineSkill } from 'eve/skills'", "defineSkill(x) === x"),
        ("import { always, never } from 'eve/tools/approval'", "always() && never() && true"),
        ("import type { HookDefinition } from 'eve/hooks'", "true"),
        ("import { type HookContext, defineHook } from 'eve/hooks'", "defineHook(x) === x"),
    ],
)  # fmt: skip
async def test_eves_packages_hand_definitions_on(statement: str, expression: str, talk: Talk) -> None:
    text = f"{statement};\nconst x = {{}};\nexport default {{ execute: () => {expression} }};"
    (answer,) = await talk.run(tool(talk, text), view=two({}))
    assert (answer["error"], answer["returned"], answer["notes"]) == (None, True, [])


async def test_what_we_do_not_have_of_them_is_a_stub(talk: Talk) -> None:
    text = (
        "import { defineTool, farAway } from 'eve/tools';\n"
        "import { slackChannel } from 'eve/channels/slack';\n"
        "export default defineTool({ execute: () => farAway(slackChannel) });"
    )
    (answer,) = await talk.run(tool(talk, text), view=two({}))
    sentence = "`farAway` of eve/tools is a stub: that package is not installed here; its host provides it"
    assert answer["error"]["message"] == sentence
    assert answer["notes"] == [
        "eve/tools is not installed here: farAway was stubbed; its host provides it",
        "eve/channels/slack is not installed here: slackChannel was stubbed; its host provides it",
    ]


ASKED = "that package is not installed here; the project's package.json lists it: run `{} install` there"
ADDED = "that package is not installed here; run `{}` in the handler's folder or above it"
SHOP = '{"devDependencies": {"@shop/db": "workspace:*"}}'
PATHS = '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}'


@pytest.mark.parametrize(
    ("files", "specifier", "step"),
    [
        ({"package.json": SHOP, "pnpm-lock.yaml": ""}, "@shop/db/read", ASKED.format("pnpm")),
        ({"bun.lock": ""}, "ledger", ADDED.format("bun add ledger")),
        (
            {"package.json": '{"dependencies": null}', "yarn.lock": ""},
            "ledger/x",
            ADDED.format("yarn add ledger"),
        ),
        ({"package.json": '{"dependencies": {"eve": "*"}}'}, "eve/channels/slack", ASKED.format("npm")),
    ],
)
async def test_what_is_absent_is_said_with_what_brings_it(
    files: dict[str, str], specifier: str, step: str, talk: Talk
) -> None:
    for name, text in files.items():
        (talk.root / name).write_text(text)
    top = f"import {{ open }} from '{specifier}';"
    (answer,) = await talk.run(
        tool(talk, f"{top}\nexport default {{ execute: () => open() }};"), view=two({})
    )
    assert answer["error"]["message"] == f"`open` of {specifier} is a stub: {step}"
    assert answer["notes"] == [
        f"{specifier} {step.removeprefix('that package ').removeprefix('that file ').partition(';')[0]}: "
        f"open was stubbed;{step.partition(';')[2]}"
    ]
    later = f"export default {{ execute: () => import('{specifier}') }};"
    (answer,) = await talk.run(tool(talk, later), view=two({}))
    assert answer["error"]["message"].endswith(step.partition(";")[2])
    assert step not in answer["error"]["plain"]


@pytest.mark.parametrize(
    ("files", "specifier", "step"),
    [
        ({}, "@/lib/db", "no `paths` in a tsconfig.json above the handler define @/lib/db"),
        ({"tsconfig.json": PATHS}, "@/lib/db", "tsconfig.json maps it to src/lib/db: create that file or "),
        (
            {"tsconfig.json": '{"compilerOptions": {"baseUrl": 5, "paths": null}}'},
            "@/lib/db",
            "no `paths` in a tsconfig.json above the handler define @/lib/db",
        ),
        ({}, "../../lib/db", "create that file or correct its path"),
        ({}, "./db.js", "create that file or correct its path"),
    ],
)
async def test_a_file_of_the_project_that_is_not_there_stops_its_module(
    files: dict[str, str], specifier: str, step: str, talk: Talk
) -> None:
    for name, text in files.items():
        (talk.root / name).write_text(text)
    top = f"import {{ open }} from '{specifier}';"
    answer = await talk.load(tool(talk, f"{top}\nexport default {{ execute: () => open() }};"))
    assert "Cannot find" in answer["error"]["plain"]
    assert f"; {step}" in answer["error"]["message"]
    (frame,) = answer["error"]["frames"]
    assert (frame["line"], frame["source"]) == (1, top)


async def test_what_we_do_not_have_of_an_installed_package_is_its_own(talk: Talk) -> None:
    folder = talk.root / "node_modules/eve"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"type": "module", "exports": {"./tools": "./tools.js"}}')
    (folder / "tools.js").write_text(
        "export const defineTool = () => 0;\nexport const shortened = (text) => text[0];"
    )
    text = (
        "import { defineTool, shortened, farAway } from 'eve/tools';\n"
        "export default defineTool({ execute: (input) => (input ? shortened(input) : farAway()) });"
    )
    code = tool(talk, text)
    (answer,) = await talk.run(code, view=two("abc"))
    assert (answer["returned"], answer["notes"]) == ("a", [])
    (answer,) = await talk.run(code, view=two(None))
    sentence = "`farAway` of eve/tools is a stub: the installed package has no such export"
    assert answer["error"]["message"] == sentence


INSTALLED = {
    "node_modules/eve/package.json": '{"type": "module", "exports": {"./hooks": "./hooks.js"}}',
    "node_modules/eve/hooks.js": "export const defineHook = () => 'theirs';",
    "node_modules/zod/package.json": '{"type": "module", "exports": "./index.js"}',
    "node_modules/zod/index.js": "export const z = { object: () => 'theirs' };",
}


@pytest.mark.parametrize(
    ("shape", "returned"), [("stream", ["ours", "theirs"]), ("arguments", ["theirs", "theirs"])]
)
async def test_an_installed_eve_gives_way_to_ours_where_its_hooks_run(
    shape: str, returned: list[str], talk: Talk
) -> None:
    for file, text in INSTALLED.items():
        talk.code(file, text)
    top = "import { defineHook } from 'eve/hooks';\nimport { z } from 'zod';\n"
    body = "() => [defineHook('ours'), z.object()]"
    text = f"{top}export default {{ events: {{ '*': {body} }} }};"
    if shape == "arguments":
        text = f"{top}export default {body};"
    code = talk.code("hooks/h.mjs", text, shape=shape, member="*" if shape == "stream" else "")
    (answer,) = await talk.run(code, view=two({}))
    assert (answer["returned"], answer["notes"]) == (returned, [])


@pytest.mark.parametrize(
    ("statement", "expression", "value"),
    [
        ("import { z } from 'zod'", "z.object({ a: z.string().optional() }).parse({ b: 1 })", {"b": 1}),
        ("import z from 'zod'", "z.enum(['a']).default('a').safeParse('x')", {"success": True, "data": "x"}),
        ("import * as z from 'zod'", "z.array(z.number()).parse([1])", [1]),
        ("import { z } from 'zod/v4'", "z.union([z.literal(1), z.null()]).parse(null)", None),
        ("import { z } from 'zod'", "z.coerce.date().transform((x: any) => 1).parseAsync(2)", 2),
        ("import { z } from 'zod'", "typeof z.object({}).then", "undefined"),
        ("import { z } from 'zod'", "z.object({})['~standard'].validate(1)", {"value": 1}),
        ("import { z, ZodError } from 'zod'", "new Error() instanceof ZodError", False),
        ("import { Type } from '@sinclair/typebox'", "typeof Type.Object({ a: Type.String() })", "function"),
    ],
)
async def test_schemas_accept_everything(statement: str, expression: str, value: object, talk: Talk) -> None:
    text = f"{statement};\nexport default {{ execute: async () => await {expression} }};"
    (answer,) = await talk.run(tool(talk, text), view=two({}))
    assert (answer["error"], answer["returned"]) == (None, value)
    assert [note.split(": ")[1] for note in answer["notes"]] == ["its schemas accept everything"]


async def test_a_required_package_is_provided_too(talk: Talk) -> None:
    text = (
        "const { defineHook } = require('eve/hooks');\n"
        "module.exports = defineHook({ events: { '*': () => 1 } });"
    )
    (answer,) = await talk.run(talk.code("hooks/h.cjs", text, member="*"), view=two({}))
    assert (answer["error"], answer["returned"]) == (None, 1)


async def test_nothing_is_provided_where_node_alone_loads(talk: Talk) -> None:
    text = "import { z } from 'zod';\nexport default () => 1;"
    (answer,) = await talk.run(talk.code("h.mjs", text, shape="arguments", plain=True), view=two({}))
    assert "Cannot find package 'zod'" in answer["error"]["message"]
