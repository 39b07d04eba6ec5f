"""What a module listens to is read from its text, or said to be unknown."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats.script_tokens import read_script
from hookscope.formats.subscriptions import stream_events

Script = Literal["typescript", "javascript"]

SEED_002 = """
import { defineHook } from "eve/hooks";

export default defineHook({
  events: {
    async "session.started"(_event, ctx) {
      console.info("session started", { sessionId: ctx.session.id });
    },
    async "message.completed"(event) {
      console.info("model finished", { length: event.data.message?.length ?? 0 });
    },
  },
});
"""

STREAMS: list[tuple[str, tuple[str, ...] | None]] = [
    (SEED_002, ("session.started", "message.completed")),
    ("export default {};", ()),
    ('export default { events: { "turn.started": undefined } };', ()),
    ("export default { events: { a: undefined, b: undefined ?? f, c: f, c: undefined } };", ("b",)),
    ('export default { events: { "no.such.event": () => {} } };', ("no.such.event",)),
    ('export default { priority: 5, events: { "turn.started": () => {} } };', ("turn.started",)),
    ('export default () => ({ events: { "turn.completed": () => {} } });', ("turn.completed",)),
    ("export const hook = { events: {} };", None),
    ('export default async () => { return { events: { "*": f } } }', ("*",)),
    (
        'export default async function h() { return defineHook({ events: { async "*"() { return 1 } } }) }',
        ("*",),
    ),
    ("export default (): Hook<A> => ({ events: { a: f } });", ("a",)),
    ("export default _ => ({ events: { a: f } });", ("a",)),
    ("export default function () { if (x) { return {} } return { events: { a: f } } }", None),
    ("export default function () { }", None),
    ("const hook = defineHook({ events: { a: f } });\nexport default hook;", ("a",)),
    ("const hook: Hook = { events: { a: f } } satisfies Hook;\nexport default hook\n", ("a",)),
    ("let hook = { events: { a: f } };\nexport default hook;", None),
    ("const a = b; const b = a; export default a;", None),
    ("export default hook.default;", None),
    ("export default wrap({ events: { a: f } });", None),
    ("export default defineHook<State>({ events: { a: f } });", ("a",)),
    ("module.exports = { events: { a: f } };", ("a",)),
    ("export default { events: { a, 'b': b, c() {}, async d() {}, get e() { return f } } }", tuple("abcde")),
    ("export default { events: { async: f, get: g, *a() {} } }", ("async", "get", "a")),
    ("export default { events: { set(x) {}, a: (x, y) => x / y } }", ("set", "a")),
    ('export default { events: { "a"(e: E<X, Y>): Promise<Map<A, B>> { }, "b": f } }', ("a", "b")),
    ("export default { events: { a: f, b: g, a: h } };", ("a", "b")),
    ("export default { events: { a: f }, events: { b: f } };", ("b",)),
    ("export default { events: { [key]: f } };", None),
    ("export default { events: { ...others, a: f } };", None),
    ("export default { ...others, events: { a: f } };", None),
    ("export default { events };", None),
    ("export default { events: build() };", None),
    ("export default { events: { `a`: f } };", None),
    ("export default { events: { a: f }", None),
    ("export default { events: { a f } }", None),
    ("// export default { events: { a: f } }\n", None),
    ("const s = `export default { events: { a: f } }`;", None),
    ("export default { events: { a: /}/, b: '}', c: `}${'}'}}` } };", ("a", "b", "c")),
    ("", None),
]

PYTHON_STREAMS: list[tuple[str, tuple[str, ...] | None]] = [
    ('hook = define_hook(events={"turn.started": fn, "*": lambda event, ctx: 0})', ("turn.started", "*")),
    ('default = eve.define_hook({"events": {"a": f}})', ("a",)),
    ('def default():\n    return define_hook(events={"a": f, "b": g, "a": h})', ("a", "b")),
    ("hook = define_hook()", ()),
    ("hook = define_hook({})", ()),
    ('default = {"events": {"a": f}}', ("a",)),
    ("define_hook(events=EVENTS)", None),
    ("define_hook(events={**others})", None),
    ('define_hook(events={"a" + b: f})', None),
    ("define_hook(**settings)", None),
    ("define_hook(*settings)", None),
    ("define_hook(settings)", None),
    ('a = define_hook(events={"a": f})\nb = define_hook(events={"b": f})', None),
    ("def handler(event): ...", None),
    ("def broken(:", None),
]


@pytest.mark.parametrize(("text", "events"), STREAMS)
def test_events_of_a_stream_module_are_its_keys(text: str, events: tuple[str, ...] | None) -> None:
    assert stream_events(text.encode(), "typescript") == events
    assert stream_events(text.encode(), "javascript") == events


@pytest.mark.parametrize(("text", "events"), PYTHON_STREAMS)
def test_events_of_a_python_stream_module_are_found(text: str, events: tuple[str, ...] | None) -> None:
    assert stream_events(text.encode(), "python") == events


def test_an_unknown_language_gives_no_events() -> None:
    assert stream_events(b"export default {}", "unknown") is None


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_whole_bundle_is_not_read(language) -> None:  # type: ignore[no-untyped-def]
    assert stream_events(b" " * 262_145, language) is None


BLANKS = st.lists(st.sampled_from([" ", "\t", "\n", "\r\n", "/* 'c' { */", "// d `\n"]), max_size=3).map(
    lambda parts: " " + "".join(parts)
)


@given(st.data())
def test_comments_and_blanks_change_no_events(data: st.DataObject) -> None:
    text, events = data.draw(st.sampled_from(STREAMS))
    spaced = respaced(text, data)
    assert stream_events(spaced.encode(), "typescript") == events


def respaced(text: str, data: st.DataObject) -> str:
    """The text with other blanks between its tokens; none inside a template, where blanks are text."""
    script = read_script(text.encode())
    assert script is not None
    parts: list[str] = []
    for before, token in zip((None, *script.tokens), script.tokens, strict=False):
        is_text = token.kind == "template" or (token.kind == "open" and token.text.startswith("}"))
        closes_hole = before is not None and before.kind == "close" and token.start == before.start + 1
        in_template = is_text or (closes_hole and token.text.endswith(("`", "${")) and token.text[0] != "`")
        parts += ["" if in_template else data.draw(BLANKS), token.text]
    return "".join(parts)


PIECES = st.sampled_from(
    [
        *("(", ")", "{", "}", "[", "]", "<", ">", "=>", "...", ":", ",", ";", ".", "-", "1", "'a'", "`${"),
        *("x", "events", "async", "function", "return", "api", "on", "register", "defineHook"),
        *("export default", "const x =", "\n"),
    ]
)


@given(st.lists(PIECES, max_size=60).map(" ".join).map(str.encode) | st.binary(max_size=200))
def test_no_module_text_raises(source: bytes) -> None:
    for language in ("typescript", "python"):
        stream_events(source, language)


@pytest.mark.parametrize(
    "text",
    [
        "export default " + "(" * 100_000,
        "export default " + "()=>" * 60_000,
        "export default " + "defineHook(" * 20_000,
        "export default {events:{" * 10_000,
        "const a = a; export default a;" * 8_000,
        "api.on(" * 30_000,
    ],
)
def test_deep_and_repetitive_modules_are_read_quickly(text: str) -> None:
    assert stream_events(text.encode(), "typescript") is None
