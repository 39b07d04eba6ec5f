"""What a Python file offers is read without running it, whatever it is."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import Export, read_exports

NAMES: list[tuple[str, dict[str, str]]] = [
    ("", {}),
    ("def handler(event): ...", {"handler": "function"}),
    ("async def handler(event): ...", {"handler": "async function"}),
    ("class Handler:\n    def inner(self): ...\n    x = 1", {"Handler": "class"}),
    ("def outer():\n    def inner(): ...\n    x = 1", {"outer": "function"}),
    ("handler = lambda event: None", {"handler": "function"}),
    ("a = b = lambda: 0", {"a": "function", "b": "function"}),
    ("handler: object = lambda: 0", {"handler": "function"}),
    ("handler: object", {}),
    ("x: int = 1", {"x": "value"}),
    ("handler = other", {"handler": "value"}),
    ("a, (b, *c) = d, e = lambda: 0, lambda: 1", dict.fromkeys("abcde", "value")),
    ("a.b = c[d] = e[f].g = 1", {}),
    ("(x := 1)\nx += 1\n(f := lambda: 0)", {"x": "value", "f": "function"}),
    ("globals()['a'] = 1", {"*": "value"}),
    ("def __getattr__(name): ...", {"__getattr__": "function", "*": "value"}),
    ("def f(): globals()", {"f": "function"}),
    ("import a.b, c.d as e", {"a": "import", "e": "import"}),
    ("from .m import x, y as z", {"x": "import", "z": "import"}),
    ("from m import *", {"*": "import"}),
    (
        "if a:\n    def f(): ...\nelif b:\n    g = 1\nelse:\n    h = 1",
        {"f": "function", "g": "value", "h": "value"},
    ),
    (
        "try:\n    import a\nexcept E as e:\n    b = 1\nelse:\n    c = 1\nfinally:\n    d = 1",
        {"a": "import", "b": "value", "c": "value", "d": "value"},
    ),
    ("try:\n    import a\nexcept* E:\n    b = 1", {"a": "import", "b": "value"}),
    ("with o() as f, o() as (g, h):\n    x = 1", dict.fromkeys("fghx", "value")),
    ("for i, j in s:\n    x = 1\nelse:\n    y = 1", dict.fromkeys("ijxy", "value")),
    ("while a:\n    x = 1\nelse:\n    y = 1", dict.fromkeys("xy", "value")),
    ("match a:\n    case 1:\n        x = 1", {"x": "value"}),
    ("try:\n    from m import run\nexcept ImportError:\n    def run(): ...", {"run": "function"}),
    ("def f(): ...\nf = wrap(f)", {"f": "value"}),
]


@pytest.mark.parametrize(("text", "kinds"), NAMES)
def test_module_level_names_are_found(text: str, kinds: dict[str, str]) -> None:
    exports = read_exports(text.encode())
    assert {name: export.kind for name, export in exports.items()} == kinds
    assert all(name == export.name for name, export in exports.items())


def test_a_name_has_the_line_of_its_last_binding() -> None:
    exports = read_exports(b"x = 1\n\n@deco\ndef f(): ...\nx = 2\n")
    assert exports == {"x": Export("x", "value", 5), "f": Export("f", "function", 4)}


def test_a_coding_cookie_and_a_byte_order_mark_are_honoured() -> None:
    assert list(read_exports("# coding: latin-1\né = 1".encode("latin-1"))) == ["é"]
    assert list(read_exports("\ufeffé = 1".encode())) == ["é"]


def test_a_syntax_error_has_its_position() -> None:
    with pytest.raises(FormatError, match="line 2, column 5: ") as caught:
        read_exports("é = 1\nx = = 2\n".encode())
    assert caught.value.span.start == 10


BROKEN = {
    "null byte": b"a = 1\0",
    "unknown cookie": b"# coding: nope\na = 1",
    "cookie of no text": b"# coding: hex\nab",
    "rot13": b"# coding: rot13\nqrs s(): cnff",
    "undefined": b"# coding: undefined\na",
    "cookie against the mark": b"\xef\xbb\xbf# coding: latin-1\na = 1",
    "not UTF-8": b"a = '\xff'",
    "UTF-16": "a = 1".encode("utf-16"),
    "parentheses": b"(" * 100_000,
    "minus": b"-" * 100_000 + b"1",
    "sum": b"1" + b"+1" * 100_000,
    "elif": b"if 1: pass\n" + b"elif 1: pass\n" * 50_000,
    "indentation": b"".join(b" " * n + b"if 1:\n" for n in range(200)),
    "long integer": b"a = " + b"1" * 5000,
    "tabs and spaces": b"if 1:\n\tx = 1\n        y = 1\n",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN.keys())
def test_what_python_cannot_parse_is_refused(source: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        read_exports(source)
    assert 1 <= caught.value.span.line <= source.count(b"\n") + 1


def test_a_chain_of_attributes_is_read_or_refused() -> None:
    try:
        assert read_exports(b"a" + b".b" * 100_000) == {}  # since 3.14
    except FormatError as refused:
        assert "too deeply" in str(refused)  # noqa: PT017  (one of both)


def test_a_long_chain_of_elif_is_walked() -> None:
    chain = "if 0: pass\n" + "".join(f"elif {n}: x{n} = 1\n" for n in range(150))
    assert len(read_exports(chain.encode())) == 150


def test_warnings_about_user_files_are_suppressed() -> None:
    before = list(warnings.filters)
    assert list(read_exports(b"a = '\\d'\nb = 1 is 1\nassert (a, b)")) == ["a", "b"]
    assert list(warnings.filters) == before


LINES = st.sampled_from(
    ["def f():", "class C:", "if a:", "else:", "try:", "except:", "import a", "lambda:", "\n "]
)
COOKIES = st.sampled_from(["# coding: latin-1", "# coding: nope", "# coding: utf-16"])
MARKS = st.sampled_from("a1=()['\"\\\n\t\r\f\0\ufeffé")
PIECES = st.lists(LINES | COOKIES | MARKS, max_size=10).map("".join)


@given(
    st.binary(max_size=60)
    | PIECES.map(str.encode)
    | PIECES.map(lambda text: text.encode("latin-1", "replace"))
)
def test_any_python_bytes_are_read_or_refused_with_a_position(source: bytes) -> None:
    error = refusal(source)
    if error:
        assert error.problem
        assert 1 <= error.span.line <= source.count(b"\n") + 1
        assert 0 <= error.span.start <= error.span.end <= len(source)


def refusal(source: bytes) -> FormatError | None:
    try:
        read_exports(source)
    except FormatError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "misfit"),
    [
        ("def handler(event): ...", None),
        ("async def handler(event, /): ...", None),
        ("def handler(*events): ...", None),
        ("def handler(event, context=None, *, loud=False, **more): ...", None),
        ("@wrapped\ndef handler(event, context): ...", None),
        ("def handler(event, context): ...", 2),
        ("async def handler(kind, context, more=1): ...", 2),
        ("def handler(event, *, context): ...", 2),
        ("def handler(): ...", 0),
    ],
)
def test_functions_that_do_not_take_one_argument_are_recognised(text: str, misfit: int | None) -> None:
    assert read_exports(text.encode())["handler"].required_arguments == misfit
