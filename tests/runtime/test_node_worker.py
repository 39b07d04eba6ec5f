"""Real Node workers: handlers as people write them, and what they do to their process."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookscope.installation import install_command
from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result
from hookscope.runtime.executors import Node, NoNode, find_node
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, node_executor

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

WRITE = "write `export default` before the function that is called"
FINE = "export default (event) => { event.messages.push('fine'); };"


def body(*lines: str, top: str = "") -> str:
    """A handler of these lines."""
    return "\n".join((top, "export default async (event: any) => {", *lines, "};", ""))


@pytest.fixture(scope="module")
def node() -> str:
    """A Node that is new enough."""
    found = find_node(shutil.which("node"))
    assert isinstance(found, Node) and found.runs_typescript, found.missing_reason  # noqa: PT018  (one sentence for both)
    return found.path


@pytest.mark.environment
def test_where_none_is_found_the_command_is_named_that_brings_one() -> None:
    missing = find_node(None, ask=lambda _: None)
    assert isinstance(missing, NoNode)
    assert missing.missing_reason.startswith(
        "needs Node 22.18 or newer (PATH has none outside the workspace); `"
    )
    assert missing.missing_reason.endswith(f"`{install_command('node')}` installs one")


@pytest.fixture
def hook(tmp_path: Path) -> WriteHook:
    """Write a hook folder; its registration. Further files by name: `{"util.ts": "..."}`."""

    def write(
        name: str, text: str, file: str = "handler.ts", *, export: str = "default", files: Any = ()
    ) -> Registration:
        folder = tmp_path / "pack" / "hooks" / name
        for relative, content in {file: text, **dict(files)}.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return Registration("command:new", name, Code(folder / file, export, folder, "javascript"))

    return write


@pytest.fixture
async def lane(node: str, tmp_path: Path) -> AsyncIterator[ProcessExecutor]:
    made = node_executor(
        env=dict(os.environ), cwd=tmp_path, node=node, limits=Limits(spawn=60.0, load=60.0, run=60.0)
    )
    try:
        yield made
    finally:
        await made.close()


def error_of(result: Result) -> Failure:
    assert result.error is not None, result
    return result.error


def places(error: Failure) -> list[tuple[str, int, int, str]]:
    return [(Path(frame.file).name, frame.line, frame.column, frame.source) for frame in error.frames]


GUIDE_000 = """
// ~/.eliza/hooks/my-hook/handler.ts
export default async function handler(event: HookEvent): Promise<void> {
  if (event.action === "new") {
    event.messages.push("Welcome! A new session has started.");
  }
}
"""
GUIDE_001 = """
import type { HookEvent } from "milady/hooks/types";

export default async function handler(event: HookEvent): Promise<void> {
  console.log(`New session started: ${event.sessionKey}`);
  event.messages.push("Welcome to this session!");
}
"""
GUIDE_004 = """
import type { HookHandler } from "../../src/hooks/hooks.js";

const handler: HookHandler = async (event) => {
  if (event.type !== "command" || event.action !== "new") {
    return;  // Only handle command:new
  }

  // Access event data
  const { sessionKey, context, timestamp } = event;

  // Do work...

  // Optionally send message to user
  event.messages.push("Hook executed successfully.");
};

export default handler;
"""
GUIDE_004_BOOTSTRAP = """
export default (event) => {
// Inside agent:bootstrap hook handler:
const context = event.context as AgentBootstrapHookContext;
context.bootstrapFiles.push({
  name: "CUSTOM.md",
  content: "Custom context to inject into system prompt",
  type: "custom",
});
};
"""


async def test_the_guides_handlers_run_as_printed(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    texts = {"000": GUIDE_000, "001": GUIDE_001, "004": GUIDE_004, "bootstrap": GUIDE_004_BOOTSTRAP}
    event = HookEvent("command", "new", "s1", {"bootstrapFiles": []})
    outcome = await outcome_of(*(hook(name, text) for name, text in texts.items()), event=event)
    assert set(outcome.statuses.values()) == {"ok"}
    assert event.messages == [
        "Welcome! A new session has started.",
        "Welcome to this session!",
        "Hook executed successfully.",
    ]
    assert outcome["001"].stdout == "New session started: s1\n"
    assert event.context["bootstrapFiles"][0]["name"] == "CUSTOM.md"


async def test_a_handler_gets_the_seeds_object(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body(
        "const { type, action, sessionKey, timestamp, messages, context } = event;",
        "return [Object.keys(event), timestamp instanceof Date, Array.isArray(messages), context];",
    )
    outcome = await outcome_of(hook("a", text), event=HookEvent("command", "new", "s", {"n": 1}))
    names = ["type", "action", "sessionKey", "timestamp", "messages", "context"]
    assert outcome["a"].returned == [names, True, True, {"n": 1}]


USES_U = "import u from './u'; export default () => u;"
ALIASED = {
    "tsconfig.json": '{"compilerOptions": {/* */ "paths": {"@/*": ["./src/*"],}}}',
    "src/u.ts": "export default 42",
}
DATA = {"d.json": '{"x": 42}'}
PROPERTY = "class A { constructor(public x = 42) {} }\nexport default () => new A().x;"
PACKAGE = {
    "node_modules/p/index.ts": "export default 42 as number",
    "node_modules/p/package.json": '{"main": "index.ts"}',
}
AROUND = "require('node:path').join(__dirname, 'handler.ts') === __filename"


@pytest.mark.parametrize(
    ("file", "text", "files", "export"),
    [
        ("handler.mjs", "export default () => 42", {}, "default"),
        ("handler.js", "export const other = () => 42", {}, "other"),
        ("handler.js", "export default () => 42", {"package.json": '{"type": "module"}'}, "default"),
        ("handler.js", "module.exports = () => 42", {}, "default"),
        ("handler.js", "exports.__esModule = true; exports.default = () => 42", {}, "default"),
        ("handler.cjs", "exports.other = () => require('./u').x", {"u.js": "exports.x = 42"}, "other"),
        ("handler.cts", "const x: number = 42; module.exports = () => x;", {}, "default"),
        ("handler.mts", "export default (): number => 42;", {}, "default"),
        ("handler.ts", "const x: number = 42; module.exports = { other: () => x };", {}, "other"),
        ("handler.ts", USES_U.replace("./u", "./u.js"), {"u.ts": "export default 42"}, "default"),
        ("handler.ts", USES_U, {"u.mts": "export default 42"}, "default"),
        ("handler.ts", USES_U, {"u/index.ts": "export default 42"}, "default"),
        ("handler.ts", "import d from './d.json'; export default () => d.x;", DATA, "default"),
        ("handler.ts", "enum A { x = 42 }\nexport default () => A.x;", {}, "default"),
        ("handler.ts", "namespace N { export const x = 42 }\nexport default () => N.x;", {}, "default"),
        ("handler.ts", PROPERTY, {}, "default"),
        ("handler.ts", "const x = <any>42;\nexport default () => x;", {}, "default"),
        ("handler.ts", USES_U.replace("./u", "@/u"), ALIASED, "default"),
        ("handler.ts", "import p from 'p'; export default () => p;", PACKAGE, "default"),
        ("handler.ts", f"export default () => {AROUND} ? 42 : 0;", {}, "default"),
    ],
)  # fmt: skip
async def test_modules_of_all_kinds_load(
    file: str, text: str, files: dict[str, str], export: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    outcome = await outcome_of(hook("a", text, file, export=export, files=files))
    assert (outcome["a"].status, outcome["a"].returned) == ("ok", 42), outcome["a"]


@pytest.mark.parametrize(
    ("text", "export", "message"),
    [
        ("export const other = () => 1;", "default", "handler.ts has no default export; it exports `other`"),
        ("export default () => 1;", "other", "handler.ts does not export `other`; it exports `default`"),
        ("const other = () => 1;", "default", f"handler.ts exports nothing; {WRITE}"),
        ("export const a = 1;", "a", "`a` in handler.ts is a number, not a function; NONE"),
        ("export class A {}", "A", "`A` in handler.ts is a class; a handler is a function; NONE"),
    ],
)  # fmt: skip
async def test_what_is_no_handler_is_said(
    text: str, export: str, message: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    error = error_of((await outcome_of(hook("a", text, export=export)))["a"])
    assert (error.type, error.message, error.phase) == (
        "ClassHandler" if "is a class" in message else "NoHandler",
        message.replace("NONE", "it exports no functions"),
        "load",
    )


@pytest.mark.parametrize(
    ("file", "text", "place", "word"),
    [
        ("handler.js", "export default 1;\nconst x = = 2;\n", (2, 11), "Unexpected token"),
        ("handler.js", "export default () => 1;\nlet a;\nlet a;\n", (3, 5), "already been declared"),
        ("handler.ts", "export default 1;\nconst x: = 2;\n", (2, 10), "Unexpected token"),
        ("handler.cjs", "module.exports = 1;\nconst x = = 2;\n", (2, 11), "Unexpected token"),
        (
            "handler.ts",
            "export default () => 1;\n@dec class A {}\n",
            (2, 1),
            "line 2 of handler.ts: decorators",
        ),
        ("handler.ts", "class A { accessor x = 1 }\n", (1, 11), "line 1 of handler.ts: `accessor`"),
        (
            "handler.ts",
            "\nimport fs = require('fs');\n",
            (2, 1),
            "line 2 of handler.ts: `import x = require()`",
        ),
        ("handler.ts", "const a = 1;\nexport = a;\n", (2, 1), "line 2 of handler.ts: `export =`"),
        ("handler.tsx", "export default () => <a/>;", (1, 1), "does not run JSX"),
        ("handler.ts", "import { a } from 'node:fs';\n", (1, 10), "does not provide an export named 'a'"),
        ("handler.ts", "\nimport { a } from './gone.js';\n", (2, 19), "Cannot find module"),
    ],
)
async def test_what_does_not_load_has_its_place(
    file: str, text: str, place: tuple[int, int], word: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    error = error_of((await outcome_of(hook("a", text, file)))["a"])
    assert word in error.message
    assert [(Path(frame.file).name, frame.line, frame.column) for frame in error.frames] == [(file, *place)]
    assert error.frames[0].source == text.split("\n")[place[0] - 1]
    assert error.phase == "load"


@pytest.mark.parametrize("first", ["enum A { x }", "type A = string"])
async def test_an_error_has_the_lines_and_columns_of_the_handler(
    first: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = f"import {{ fails }} from './util';\n{first};\n" + body("  await fails(1);")
    util = "export async function fails(n: number) {\n  throw new RangeError('no ' + n);\n}\n"
    error = error_of((await outcome_of(hook("a", text, files={"util.ts": util})))["a"])
    assert (error.type, error.message) == ("RangeError", "no 1")
    assert [(name, line, source) for name, line, _, source in places(error)] == [
        ("handler.ts", 5, "await fails(1);"),
        ("util.ts", 2, "throw new RangeError('no ' + n);"),
    ]
    assert [frame.column for frame in error.frames] == [9, 9] if first[0] == "t" else True
    assert error.frames[1].function == "fails"


async def test_what_is_not_installed_is_stubbed_and_said_each_time(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    top = "\n".join(
        (
            'import { type A, foo, bar as b } from "openclaw/plugin-sdk";',
            'import sdk, * as core from "@elizaos/core";',
            'import { x } from "../../src/gone.js";',
            'import type { T } from "never";',
        )
    )
    quiet = hook("quiet", body("return [typeof foo, typeof core.logger];", top=top))
    calls = hook("calls", body("foo(1, () => core.logger);", top=top))
    for _ in range(2):
        outcome = await outcome_of(quiet, calls)
        for result in outcome.results:
            assert result.notes == (
                "openclaw/plugin-sdk is not installed here: foo, bar were stubbed; its host provides it",
                "@elizaos/core is not installed here: default, logger were stubbed; its host provides it",
                "../../src/gone.js is not there: x was stubbed; "
                "create that file or correct its path, unless its host provides it",
            ), result
    assert outcome["quiet"].returned == ["function", "function"]
    assert error_of(outcome["calls"]).message == (
        "`foo` of openclaw/plugin-sdk is a stub: that package is not installed here; its host provides it"
    )


async def test_an_import_that_fails_has_its_own_line_and_not_that_of_its_types(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = 'import type { A } from "./gone.js";\nimport { a } from "./gone.js";\nexport default () => a;\n'
    error = error_of((await outcome_of(hook("a", text)))["a"])
    assert [line for _, line, _, _ in places(error)] == [2]


async def test_under_a_plain_host_the_file_that_was_meant_is_named(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    plain = hook(
        "a", "import { a } from '../lib/a.js';\nexport default () => a;\n", files={"../lib/a.ts": ""}
    )
    assert isinstance(plain.target, Code)
    error = error_of((await outcome_of(replace(plain, target=replace(plain.target, unmodified=True))))["a"])
    assert error.message.endswith("; Node does not complete paths: write ../lib/a.ts")


@pytest.mark.parametrize(("asked", "notes"), [("event, ctx", 1), ("event, ctx = event.context", 0)])
async def test_a_handler_that_counts_on_a_second_argument_is_told_so_where_it_fails(
    hook: WriteHook, outcome_of: OutcomeOf, asked: str, notes: int
) -> None:
    text = f"export default async function ({asked}) {{ if (event.context.x) return; ctx.log.info(1); }}"
    result = (await outcome_of(hook("two", text)))["two"]
    said = "it expects 2 arguments, but it gets only one, the event; use `event.context` for the rest"
    assert result.status == "error"
    assert result.notes == (said,) * notes


async def test_a_stub_of_a_file_speaks_of_a_file(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    calls = hook("calls", body("load();", top="import { load } from '../dist/load.js';"))
    error = error_of((await outcome_of(calls))["calls"])
    assert error.message == (
        "`load` of ../dist/load.js is a stub: that file is not there; "
        "create that file or correct its path, unless its host provides it"
    )


@pytest.mark.parametrize("text", ["await import('nopackage');", "require('nopackage');"])
async def test_what_is_imported_at_run_time_is_not_stubbed(
    text: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    error = error_of((await outcome_of(hook("a", body(text))))["a"])
    assert "Cannot find" in error.message
    assert "\n" not in error.message
    assert places(error)[0][1] == 3


SHARED = "import { n } from '../../lib/shared.ts';\nlet count = 0;\nexport default () => [n(), ++count];"


@pytest.mark.parametrize("kind", ["module", "commonjs"])
async def test_a_packs_library_is_shared_and_loaded_anew_when_it_changes(
    kind: str, hook: WriteHook, outcome_of: OutcomeOf, tmp_path: Path
) -> None:
    common = kind == "commonjs"
    text = (
        "const { n } = require('../../lib/shared.js'); exports.default = n; module.exports = n"
        if common
        else SHARED
    )
    lib = tmp_path / "pack" / "lib" / ("shared.js" if common else "shared.ts")
    source = "let i = 0;\n" + (
        "exports.n = () => VALUE + ++i;" if common else "export const n = () => VALUE + ++i;"
    )
    lib.parent.mkdir(parents=True)
    lib.write_text(source.replace("VALUE", "0"))
    a, b = (hook(name, text, "handler.js" if common else "handler.ts") for name in "ab")

    async def numbers() -> list[int]:
        outcome = await outcome_of(a, b)
        values = [result.returned for result in outcome.results]
        return values if common else [value[0] for value in values]

    assert await numbers() == [1, 2]  # one instance
    await numbers()
    lib.write_text(source.replace("VALUE", "1000"))
    assert await numbers() == [1001, 1002]


async def test_an_edited_helper_is_loaded_anew_by_the_same_worker(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = "import { x } from './util.ts';\nexport default () => [process.pid, x];"
    first = await outcome_of(hook("a", text, files={"util.ts": "export const x = 1;"}))
    edited = await outcome_of(hook("a", text, files={"util.ts": "export const x = 22;"}))
    pid, _ = first["a"].returned
    assert (first["a"].returned, edited["a"].returned) == ([pid, 1], [pid, 22])


async def test_a_module_that_is_required_is_loaded_anew_by_another_worker(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = "module.exports = () => require('./util.mjs').default"
    returned = []
    for source in ("1", "22", "22"):
        call = hook("a", text, "handler.cjs", files={"util.mjs": f"export default {source};"})
        result = (await outcome_of(call))["a"]
        returned.append((result.returned, any("which is required" in note for note in result.notes)))
    assert returned == [(1, False), (1, True), (22, False)]


async def test_two_hooks_may_both_have_a_util(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = "import x from './util.ts';\nexport default () => x;"
    a, b = (hook(name, text, files={"util.ts": f"export default '{name}'"}) for name in "ab")
    assert [result.returned for result in (await outcome_of(a, b)).results] == ["a", "b"]


async def test_the_last_version_that_loaded_runs_and_the_error_is_said(
    hook: WriteHook, lane: ProcessExecutor, outcome_of: OutcomeOf
) -> None:
    await outcome_of(hook("a", body("return 1;")))
    result = (await outcome_of(hook("a", "export default () => {\n  return (2;\n};")))["a"]
    assert (result.status, result.returned) == ("ok", 1)
    assert result.stale is not None
    assert places(result.stale)[0][:2] == ("handler.ts", 2)
    target = hook("a", "export default () => {\n  return (3;\n};").target
    assert isinstance(target, Code)
    assert isinstance(await lane.load(target), Failure)
    assert (await outcome_of(hook("a", body("return 44;"))))["a"].returned == 44


async def test_output_is_charged_to_the_handler_that_printed_it(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = body("console.log(process.argv[1].slice(-10), NAME);", "console.error(NAME);")
    outcome = await outcome_of(*(hook(name, text.replace("NAME", f"'{name}'")) for name in "abc"))
    assert [(result.stdout, result.stderr) for result in outcome.results] == [
        (f"handler.ts {name}\n", f"{name}\n") for name in "abc"
    ]


async def test_all_that_was_printed_before_an_exit_arrives(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body("process.stdout.write('x'.repeat(20e6)); console.log('the end'); process.exit(3);")
    result = (await outcome_of(replace(hook("a", text), limit=60.0)))["a"]
    assert result.status == "crashed"
    assert error_of(result).message == "exited with status 3 before it answered"
    assert result.stdout.endswith("xthe end\n")
    (left_out,) = (note for note in result.notes if "omitted" in note)
    assert len(result.stdout) + int(left_out.split()[0].replace(",", "")) >= 20_000_008


async def test_an_error_outside_of_the_call_ends_it_at_once(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    wait = "await new Promise(() => {});"
    outcome = await outcome_of(
        hook("timer", body("setTimeout(() => { throw new Error('in a timer') }, 1);", wait)),
        hook("forgotten", body("Promise.reject(new TypeError('forgotten'));", wait)),
        hook("fine", FINE, "handler.js"),
    )
    assert outcome.statuses == {"timer": "error", "forgotten": "error", "fine": "ok"}
    assert error_of(outcome["timer"]).message == "in a timer"
    assert error_of(outcome["forgotten"]).type == "TypeError"
    for name in ("timer", "forgotten"):
        assert outcome[name].notes == (
            "it was thrown outside the handler's `await`: in a timer, a callback or an unawaited promise",
        )


async def test_a_late_error_is_said_with_its_hook(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    late = hook("late", body("setImmediate(() => { throw new Error('too late') });"))
    after = hook("after", body("await new Promise((done) => setTimeout(done, 20));"))
    outcome = await outcome_of(late, after)
    assert outcome.statuses == {"late": "ok", "after": "ok"}
    said = " ".join(note for result in outcome.results for note in result.notes)
    assert "late" in said
    assert "too late" in said


async def test_a_note_names_the_handler_that_froze_the_event(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    freezes = hook("freezes", body("Object.freeze(event); Object.seal(event.context);"))
    adds = hook("adds", body("event.context.added = 1;"))
    outcome = await outcome_of(freezes, adds, event=HookEvent("command", "new", "s", {}))
    assert outcome["freezes"].notes == ("it froze event, event.context: later handlers cannot add to them",)
    assert (outcome["adds"].status, outcome["adds"].notes) == ("error", ())


async def test_hostile_values_become_json(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body(
        "const c = event.context;",
        "Object.assign(c, { f() {}, b: 10n, nan: NaN, map: new Map([['a', 1]]), set: new Set([1]) });",
        "c.u = undefined;",
        "Object.assign(c, { buf: Buffer.from('abc'), date: new Date(0), list: [undefined, , 1] });",
        "c.self = c;",
        "Object.defineProperty(c, 'get', { enumerable: true, get() { throw new Error('no'); } });",
        "c.proxy = new Proxy({}, { ownKeys() { throw new TypeError('no'); } });",
        "delete event.action;",
        "return 'a\\ud800b';",
    )
    event = HookEvent("command", "new", "s", {})
    result = (await outcome_of(hook("a", text), event=event))["a"]
    assert result.returned == "a?b"
    assert event.context == {
        "f": "<function>", "b": "<BigInt 10>", "nan": "<number NaN>", "map": {"a": 1}, "set": [1],
        "buf": "<Buffer, 3 bytes>", "date": "1970-01-01T00:00:00.000Z", "list": [None, None, 1],
        "self": "<cycle: Object>", "get": "<unreadable>", "proxy": "<unreadable Proxy>",
    }  # fmt: skip
    assert "the handler deleted event.action" in result.notes
    assert "context.self holds itself" in result.notes
    assert "context.proxy could not be read (TypeError)" in result.notes


@pytest.mark.parametrize(
    ("thrown", "type_", "message"),
    [
        ("null", "null", "null"),
        ("''", "string", "string"),
        ("'text'", "string", "text"),
        ("{ a: 1 }", "Object", "{ a: 1 }"),
        ("new Error('')", "Error", "Error"),
        ("new (class Http extends Error {})('x')", "Http", "x"),
        ("new Error('a', { cause: new TypeError('b') })", "Error", "a (caused by TypeError: b)"),
        ("new AggregateError([new Error('x'), 'y'], 'all')", "AggregateError", "all (Error: x; string: y)"),
        ("{ get message() { throw 1 } }", "Object", "{ message: [Getter] }"),
        ("new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })", "Proxy", "Proxy"),
    ],
)  # fmt: skip
async def test_anything_may_be_thrown(
    thrown: str, type_: str, message: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    error = error_of((await outcome_of(hook("a", body(f"throw {thrown};"))))["a"])
    assert (error.type, error.message) == (type_, message)


async def test_long_and_deep_errors_are_cut(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(
        hook("long", body("throw new Error('m'.repeat(5e7));")),
        hook("deep", "export default function deep() { deep(); }"),
    )
    assert error_of(outcome["long"]).message.endswith("characters omitted)")
    assert len(error_of(outcome["long"]).message) < 20_000
    assert error_of(outcome["deep"]).message == "Maximum call stack size exceeded"
    assert len(error_of(outcome["deep"]).frames) == 40


HOSTILE = body(
    "process.stdout.write = () => true; console.log = null; process.kill = null; fs.writeSync = null;",
    "JSON.stringify = JSON.parse = () => { throw 1; };",
    "Array.prototype.map = Array.prototype.push = () => 7; Array.prototype[Symbol.iterator] = null;",
    "Promise.prototype.then = 3; globalThis.Promise = class {}; Object.prototype.then = (done) => done(1);",
    "Buffer.from = Buffer.concat = Buffer.prototype.readUInt32BE = null; globalThis.Buffer = null;",
    "Object.prototype.toJSON = Array.prototype.toJSON = () => 2; Map.prototype.get = Object.keys = null;",
    "RegExp.prototype.exec = String.prototype.slice = Date.prototype.getTime = null;",
    "process.chdir('/'); process.env.X = '1'; delete process.env.PATH; process.argv = process.exitCode = 3;",
    "process.removeAllListeners('uncaughtException'); Error.prepareStackTrace = () => { throw 1; };",
    "throw new TypeError('the end');",
    top="import fs from 'node:fs';",
)


async def test_what_a_handler_replaces_does_not_reach_the_protocol(
    hook: WriteHook, outcome_of: OutcomeOf, tmp_path: Path
) -> None:
    after = body(
        "console.log('printed');",
        "const { env, pid, argv } = process;",
        "return [pid, process.cwd(), env.X ?? null, !!env.PATH, argv.length];",
    )
    first = await outcome_of(hook("after", after))
    hostile = (await outcome_of(hook("hostile", HOSTILE)))["hostile"]
    again = await outcome_of(hook("after", after))
    assert (error_of(hostile).type, error_of(hostile).message) == ("TypeError", "the end")
    assert places(error_of(hostile))[0][:2] == ("handler.ts", 12)
    assert again["after"].returned == first["after"].returned
    assert again["after"].stdout == "printed\n"


@pytest.mark.parametrize(
    "line",
    [
        "Object.freeze(Array.prototype);",
        "fs.closeSync(1);",
        "process.stdout.end('x');",
        "Object.defineProperty(JSON, 'parse', { value: 1, configurable: false });",
    ],
)
async def test_a_worker_that_cannot_be_put_back_is_replaced(
    line: str, hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    outcome = await outcome_of(
        hook("bad", body(line, "return process.pid;", top="import fs from 'node:fs';")),
        hook("next", body("console.log('fine'); return process.pid;")),
    )
    assert outcome.statuses == {"bad": "ok", "next": "ok"}
    assert outcome["bad"].returned != outcome["next"].returned
    assert outcome["next"].stdout == "fine\n"


async def test_the_environment_is_the_lanes_with_the_hooks_own_on_top(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    text = "const then = process.env.OWN; process.env.SET_BY_IMPORT = '1';\n" + body(
        "return [then, process.env.OWN, process.env.SET_BY_IMPORT].map((value) => value ?? null);"
    )
    own, other = hook("own", text), hook("other", text.replace("process.env.SET_BY_IMPORT = '1';", ""))
    assert isinstance(own.target, Code)
    own = replace(own, target=replace(own.target, env={"OWN": "mine"}))
    for _ in range(2):
        outcome = await outcome_of(own, other)
        assert [result.returned for result in outcome.results] == [["mine", "mine", "1"], [None] * 3]


async def test_a_file_operation_that_has_failed_is_none_that_runs(
    hook: WriteHook, outcome_of: OutcomeOf, tmp_path: Path
) -> None:
    top = "import fs from 'node:fs/promises';"
    reads = hook("reads", body("await fs.readdir('/nowhere').catch(() => []);", top=top))
    tries = hook("tries", body("try { await fs.access('/nowhere'); } catch {}", top=top))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    leaves = hook("leaves", body(f"fs.open({str(fifo)!r}).catch(() => {{}});", top=top))
    outcome = await outcome_of(reads, tries, leaves)
    assert outcome["reads"].notes == outcome["tries"].notes == ()
    assert outcome["leaves"].notes[0].startswith("it left 1 file operation running")


async def test_members_of_the_context_that_are_read_of_the_event_are_told(
    hook: WriteHook, outcome_of: OutcomeOf
) -> None:
    strays = hook("strays", body("return [event.from ?? null, event['content'] ?? null];"))
    guesses = hook(
        "guesses", body("return String(event.text) + Object.keys(event) + JSON.stringify(event).length;")
    )
    careful = hook("careful", body("const { context } = event; return ['from' in event, context.from];"))
    again = hook("again", body("return event.from ?? null;"))
    event = HookEvent("message", "received", "main", {"from": "+1", "content": "hi"})
    outcome = await outcome_of(strays, guesses, careful, again, event=event)
    assert outcome["strays"].returned == [None, None]
    assert outcome["strays"].notes == (
        "it read event.from, event.content, which no event has: they are in event.context",
    )
    assert outcome["guesses"].notes == outcome["careful"].notes == ()
    assert outcome["careful"].returned == [False, "+1"]
    assert outcome["again"].notes == ("it read event.from, which no event has: it is in event.context",)


async def test_what_is_left_running_is_said(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    outcome = await outcome_of(
        hook("timer", body("setTimeout(() => {}, 60e3);")),
        hook("child", body("spawn('sleep', ['60']);", top="import { spawn } from 'node:child_process';")),
        hook("fine", FINE, "handler.js"),
    )
    assert outcome["timer"].notes[0].startswith("it left 1 timer running")
    assert outcome["child"].notes[0].startswith("it left 1 process running")
    assert outcome["fine"].notes == ()


@pytest.mark.parametrize("first", ["enum A { x }", ""])
async def test_a_loop_that_never_ends_is_stopped_where_it_is(
    first: str, hook: WriteHook, outcome_of: OutcomeOf, patience: Callable[[], None]
) -> None:
    patience()
    text = f"{first}\nfunction spin() {{\n  while (true) {{}}\n}}\n" + body("  spin();")
    result = (await outcome_of(replace(hook("a", text), limit=1.0)))["a"]
    assert result.status == "timeout"
    assert [(name, line) for name, line, _, _ in places(error_of(result))] == [
        ("handler.ts", 7),
        ("handler.ts", 3),
    ]


async def test_a_promise_that_never_settles_is_stopped(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    waits = replace(hook("a", body("await new Promise(() => {});")), limit=0.5)
    outcome = await outcome_of(waits, hook("b", FINE, "handler.js"))
    assert outcome.statuses == {"a": "timeout", "b": "ok"}


async def test_handlers_do_not_inherit_the_line_to_the_host(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    text = body(
        "return execSync('ls -l /proc/self/fd | grep -c pipe:').toString().trim();",
        top="import { execSync } from 'node:child_process';",
    )
    spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(40)]  # so that ours have high numbers
    try:
        assert int((await outcome_of(hook("a", text)))["a"].returned) <= 3
    finally:
        for descriptor in spare:
            os.close(descriptor)


async def test_ten_handlers_run_many_times_in_one_worker(hook: WriteHook, outcome_of: OutcomeOf) -> None:
    calls = [
        hook(f"h{number}", body("event.context.n = (event.context.n ?? 0) + 1;")) for number in range(10)
    ]
    for _ in range(20):
        event = HookEvent("command", "new", "s", {})
        outcome = await asyncio.wait_for(outcome_of(*calls, event=event), 60)
        assert event.context == {"n": 10}
        assert set(outcome.statuses.values()) == {"ok"}
