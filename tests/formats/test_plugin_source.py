"""What a plugin registers is read from its text, through all that does not change the meaning."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.call_counting import calls_made
from tests.formats.test_listening import PIECES, respaced

from hookscope.formats.plugin_source import PluginRegistrations, plugin_registrations

Found = list[tuple[str, int | None, int]]  # event, priority, line

SEED_003 = """
api.registerHook({
event: "message-sent",
handler: async (ctx) => {
await auditLog.record({
sessionKey: ctx.sessionKey,
channel: ctx.channel,
direction: ctx.direction,
timestamp: Date.now(),
});
},
priority: 100, // Run after other hooks
});
"""

PLUGINS: list[tuple[str, Found | int]] = [
    (SEED_003, [("message-sent", 100, 2)]),
    (
        'export default (api) => { api.on("a", f); api.on("b", f, { priority: -5 }) }',
        [("a", 0, 1), ("b", -5, 1)],
    ),
    ('export function register(p) {\n  p.on("a", f)\n}', [("a", 0, 2)]),
    ('export default { id: "x", register(p: Api) { p.on("a", f) } }', [("a", 0, 1)]),
    ('export default { register: async (p) => { p.on("a", f) } }', [("a", 0, 1)]),
    ('export const register = function (p) { p?.on("a", f) }', [("a", 0, 1)]),
    ('export default p => p.on("a", f)', [("a", 0, 1)]),
    ('const a = ["x"] as const, b = "y" as const; api.on(a[0], f); api.on(b, f)', [("x", 0, 1), ("y", 0, 1)]),
    ('other.on("a", f); x.api.on("b", f)', []),
    ('api.on("a", (e) => { api.on("b", f) }, { matcher: "x", priority: 1.0 })', [("a", 1, 1), ("b", 0, 1)]),
    ('api.on("a", f, { priority: p })', [("a", None, 1)]),
    ('api.on("a", f, options)', [("a", None, 1)]),
    ('api.on("a", f, { priority })', [("a", None, 1)]),
    ('api.registerHook("command:new", f, { name: "x" })', [("command:new", 0, 1)]),
    ("api.on(name, f)", 1),
    ('api.on("a" + b, f)', 1),
    ("api.on(`a${b}`, f)", 1),
    ("api.on()", 1),
    ("api.registerHook({ ...hook })", 1),
    ("api.registerHook(hook)", 1),
    ("for (const name of names) api.on(name, f)", 1),
    ('// api.on(name, f)\nlog("api.on(x)"); api.one(name)', []),
    ("", []),
]

PYTHON_PLUGINS: list[tuple[str, Found | int]] = [
    ('def register(api):\n    api.on("a", f)\n    api.on("b", f, priority=-5)', [("a", 0, 2), ("b", -5, 3)]),
    ('def register(p):\n    @p.on("a", priority=3)\n    def h(event, ctx): ...', [("a", 3, 2)]),
    (
        'api.register_hook({"event": "message-sent", "handler": f, "priority": 100})',
        [("message-sent", 100, 1)],
    ),
    ('api.register_hook(event="a", handler=f)', [("a", 0, 1)]),
    ('api.on(name="a", handler=f)', [("a", 0, 1)]),
    ('api.on("a", f, priority=p)', [("a", None, 1)]),
    ('other.on("a", f)', []),
    ("api.on(name, f)", 1),
    ("api.on(*args)", 1),
    ("api.register_hook(hook)", 1),
    ("api.register_hook(**hook)", 1),
    ("def broken(:", []),
    ("", []),
]


# Registers "a" and "b", each once, in these words.
SAME_MEANING = [
    'export default (api: any) => { api.on("a" as any, f); api.on(<Name>"b", f) }',
    'export default (api: unknown) => { (api as any).on("a", f); (<any>api).on("b" satisfies Name, f) }',
    'export default (api?: Api) => { api!.on("a", f); api!.on!("b"!, f) }',
    'const A = "a";\nconst B: Name = "b";\nexport default (api) => { api.on(A, f); api.on(B, f) }',
    'const E = { A: "a", B: "b" } as const\nexport default (api) => {\n api.on(E.A)\n api.on(E["B"])\n}',
    'export default (api) => { for (const e of ["a", "b"]) api.on(e, f) }',
    'const E = ["a", "b"] as const; export default (api) => { for (const e of E) { api.on(e, f) } }',
    'const E = Object.freeze(["a", "b"]); export default (api) => E.forEach((e) => api.on(e, f))',
    'const E = ["a", "b"]; export default (api) => { for (let i = 0; i < 2; i++) { api.on(E[i], f) } }',
    "const H = { a: f, b: g }; export default (api) => {"
    " for (const [name, h] of Object.entries(H)) api.on(name, h) }",
    'const H = [{ event: "a", run: f }, { event: "b", run: g }]; export default (api) => {'
    " for (const { event, run: h } of H) api.on(event, h) }",
    'export default (api) => { const on = api.on.bind(api); on("a", f); on("b", f) }',
    'export default (api) => { const { on, registerHook: hook } = api; on("a", f); hook("b", f) }',
    'export default ({ on }) => { on("a", f); on("b", f) }',
    'export default (api) => { const host = api as unknown as Host; host.on("a", f); host["on"]("b", f) }',
    'export default (api) => { api.on.call(api, "a", f); api?.on?.("b", f) }',
    'export default (api) => { const add = (name, h) => api.on(name, h); add("a", f); add("b", f) }',
    'function wire(host: Host, name: Map<X, Y>): void { host.on("a", f); host.on("b", f) }\n'
    "export default { register(api) { wire(api, 1) } }",
    'function wire({ api: host }) { host.on("a", f); host.on("b", f) }\n'
    "export default { register(api) { wire({ api }) } }",
    'class P { constructor(private host: Host) {} start() { this.host.on("a", f); this.host.on("b", f) } }\n'
    "export default { register(p) { new P(p).start() } }",
    'class P { register(p) { this.p = p; this.on() } on() { this.p.on("a", f); this.p.on("b", f) } }\n'
    "export default new P()",
    'const plugin = { id: "x", activate(p) { p.on("a", f); p.on("b", f) } } satisfies Plugin;\n'
    "export default definePluginEntry(plugin);",
]


def brief(found: PluginRegistrations) -> Found | int:
    """What was found; where nothing was, how many registrations are not known."""
    read = [(item.event, item.priority, item.line) for item in found.found]
    return read or found.unread or []


@pytest.mark.parametrize(("text", "expected"), PLUGINS)
def test_registrations_of_a_plugin_are_read_from_its_source(text: str, expected: Found | int) -> None:
    assert brief(plugin_registrations(text.encode(), "typescript")) == expected


@pytest.mark.parametrize(("text", "expected"), PYTHON_PLUGINS)
def test_registrations_of_a_python_plugin_are_read(text: str, expected: Found | int) -> None:
    assert brief(plugin_registrations(text.encode(), "python")) == expected


@pytest.mark.parametrize("text", SAME_MEANING)
def test_equivalent_code_hides_no_event(text: str) -> None:
    found = plugin_registrations(text.encode(), "typescript")
    assert ([one.event for one in found.found], found.unread) == (["a", "b"], 0)


@pytest.mark.parametrize(
    "text",
    [
        'A = "a"\nB = A\ndef register(api):\n    api.on(A, f)\n    api.on("b", f)',
        'def register(api):\n    for name in ("a", "b"):\n        api.on(name, f)',
        'EVENTS = ["a", "b"]\ndef register(api):\n    [api.on(name, f) for name in EVENTS]',
        'def register(p):\n    on = p.on\n    on("a", f)\n    q = p\n    q.on("b", f)',
    ],
)
def test_names_and_loops_in_python_hide_no_event(text: str) -> None:
    found = plugin_registrations(text.encode(), "python")
    assert ([one.event for one in found.found], found.unread) == (["a", "b"], 0)


@pytest.mark.parametrize("language", ["typescript", "python"])
def test_one_unreadable_registration_hides_no_other(language: str) -> None:
    text = 'api.on("a", f)\napi.on(name(), f)\napi.on("b", f)'
    found = plugin_registrations(text.encode(), language)  # type: ignore[arg-type]
    assert ([one.event for one in found.found], found.unread) == (["a", "b"], 1)


FILES = {
    "index": "import { setup } from './setup.ts'; import * as more from './more';\n"
    "const { last } = require('./last.cjs');\n"
    "export default (api) => { setup(api); more.wire({ host: api }); last(api.on.bind(api)) }",
    "./setup.ts": "import third from './third'\nexport function setup(p) { p.on('a', f); third(p) }\n"
    "export function unused(p) { p.on('never', f) }",
    "./third": "export default function (p) { for (const e of NAMES) p.on(e, f) }\nconst NAMES = ['b']",
    "./more": "export { wire } from './again'",
    "./again": "export const wire = ({ host }) => host.on('c', f)",
    "./last.cjs": "module.exports = { last: (on) => on('d', f) }",
    "entry": "export { default } from './plugin.js'",
    "./plugin.js": "export default define({ id: 'x', register: start })\nfunction start(p) { p.on('a', f) }",
    "itself": "import { setup } from './itself'; export function setup(p) { setup(p); p.on('a', f) }\n"
    "export default setup",
}


@pytest.mark.parametrize(
    ("entry", "events"), [("index", {"a", "b", "c", "d"}), ("entry", {"a"}), ("itself", {"a"})]
)
def test_helper_files_that_receive_the_api_are_read(entry: str, events: set[str]) -> None:
    def read(importer: str, written: str) -> tuple[str, bytes] | None:
        name = written if written in FILES else written.removeprefix("./")
        return name, FILES[name].encode()

    found = plugin_registrations(FILES[entry].encode(), "typescript", entry, read)
    assert ({one.event for one in found.found}, found.unread) == (events, 0)


def test_an_unknown_language_gives_no_registrations() -> None:
    assert plugin_registrations(b"", "unknown") == PluginRegistrations()
    assert plugin_registrations(b"api.on('a', f)" + b" " * 262_145, "javascript") == PluginRegistrations()


@given(st.data())
def test_comments_and_blanks_in_a_plugin_change_only_line_numbers(data: st.DataObject) -> None:
    text, expected = data.draw(st.sampled_from(PLUGINS))
    found = brief(plugin_registrations(respaced(text, data).encode(), "typescript"))
    if isinstance(expected, int) or isinstance(found, int):
        assert found == expected
    else:
        assert [item[:2] for item in found] == [item[:2] for item in expected]


@given(st.lists(PIECES, max_size=60).map(" ".join).map(str.encode) | st.binary(max_size=200))
def test_no_plugin_text_raises(source: bytes) -> None:
    plugin_registrations(source, "typescript")
    plugin_registrations(source, "python")


@pytest.mark.parametrize(
    "text",
    [
        "export default " + "(" * 100_000,
        "export default " + "()=>" * 60_000,
        "const a = a; export default a;" * 8_000,
        "api.on(" * 30_000,
        "import " * 30_000,
        "(a):" * 20_000,
        "function f(a) { f(a); api.on(a) }" * 5_000,
        "const a = [...a, ...a]; for (const e of a) api.on(e);" * 2_000,
        "class A { constructor(private api) { this.api.on(this.api) } }" * 3_000,
        "api.on(api.on(api.on(" * 9_000,
    ],
)
def test_deep_and_repetitive_plugins_are_read_quickly(text: str) -> None:
    plugin_registrations(text.encode(), "typescript")


LONG_TEXTS: dict[str, Callable[[int], str]] = {
    "declarations in one expression": lambda n: "let " * n,
    "assignments of members": lambda n: "this.a=" * n + "1",
    "declarations in brackets": lambda n: "(" * n + "let a=1;" * n + ")" * n,
    "loops without blocks": lambda n: "for (const a of b) " * n + "c(a)",
    "calls of a call": lambda n: "a" + "()" * n,
    "methods of a call": lambda n: "api" + '.on("x", f)' * n,
    "awaits": lambda n: f"api.on({'<a> await ' * n} x)",
    "casts of a constant": lambda n: "const as " * n,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS.keys())
def test_twice_the_text_takes_about_twice_the_work(text: Callable[[int], str]) -> None:
    first, second = (calls_for(text(count)) for count in (1_000, 2_000))
    assert second <= 2.5 * first


def calls_for(text: str) -> int:
    """How many functions reading a plugin calls."""
    return calls_made(lambda: plugin_registrations(text.encode(), "typescript"))


DOUBLED = "".join(f"const a{number + 1} = [...a{number}, ...a{number}];" for number in range(30))
HUGE = {
    "lists": f'const a0 = ["x"]; {DOUBLED} export default (api) => {{ for (const e of a12) api.on(e, f) }}',
    "texts": 'const a0 = "'
    + "x" * 100_000
    + '";'
    + DOUBLED.replace("[...", "").replace(", ...", " + ").replace("]", "")
    + "export default (api) => { api.on(a25, f) }",
    "sums": f"const a = [{'`x`,' * 500}]; export default (api) => {{ for (const e of a) api.on(e+e+e, f) }}",
    "calls": f"const a = [{'`x`,' * 500}]; export default (api) => {{ for (const e of a) {{"
    + "api.on(e, f);" * 9_000
    + "} }",
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_a_short_text_registers_no_million_handlers(text: str) -> None:
    read = plugin_registrations(text.encode(), "typescript")
    assert len(read.found) <= 3_000
    assert all(len(one.event) <= 1_000 for one in read.found)


def test_a_short_python_text_registers_no_million_handlers() -> None:
    calls = "  api.on(e, f)\n" * 9_000
    text = ("L = [" + '"x",' * 9_000 + f"]\ndef register(api):\n for e in L:\n{calls}").encode()
    read = plugin_registrations(text, "python")
    assert len(read.found) <= 11_000
    assert read.unread > 0
