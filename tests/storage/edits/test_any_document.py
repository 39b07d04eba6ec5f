"""Whatever a settings file looks like, an edit changes one path and one run of bytes, and undo takes it back.

`HOOKSCOPE_PROPERTY_RUNS=10000 pytest tests/storage/edits/test_any_document.py` looks at more documents.
"""

import copy
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hookscope.formats.json5 import locate_json5, read_json5
from hookscope.formats.positions import KeyPath
from hookscope.storage.edits.change import Change, apply_change
from hookscope.storage.edits.json5_edit import with_setting, without_setting

runs = settings(
    max_examples=int(os.environ.get("HOOKSCOPE_PROPERTY_RUNS", "60")),
    deadline=None,  # a first run imports, a busy machine waits
    suppress_health_check=[HealthCheck.too_slow],
)

KEYS = [
    "a",
    "b",
    "my hook",
    "a.b",
    "",
    "it's",
    'say "x"',
    "//",
    "/* {",
    "}",
    "a,b:",
    "é",
    "💾",
    "\n",
    "\\",
    "$_1",
    "\ufffd",
]
NAMES = {"a", "b", "é", "$_1"}  # what may stand without quotes
COMMENTS = ["/*§*/", "/* § } ' \" */", "/*§\n*/", "/***§**/", "// § { \" '\n", "//§ a: 1,\r\n", "//§*/\u2028"]
BLANKS = ["", "", "", " ", "\t", "\n", "\r\n", "\n\n", "\ufeff", "\u00a0", "\r", "\u2029", "\f"]
SCALARS = [
    "1",
    "-0x1F",
    ".5",
    "5.",
    "1e3",
    "NaN",
    "-Infinity",
    "null",
    "true",
    "false",
    "''",
    "'}\\''",
    '"//"',
    '"/*\\""',
]
SCALARS += ["'a\\\nb'", '"\\ud83d"', "'\\x41\\u0042'", '"\\\\"', "'💾'", "12345678901234567890"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def gaps(draw: st.DrawFn, line: str) -> str:
    """What may stand between two tokens; most often what an orderly file has there."""
    if draw(st.integers(0, 2)):
        return line
    return "".join(draw(st.lists(st.sampled_from(BLANKS + COMMENTS), max_size=3)))


@st.composite
def keys(draw: st.DrawFn, key: str) -> str:
    """One of the ways to write a key."""
    quote = draw(st.sampled_from(["'", '"', ""]))
    if not quote and key in NAMES:
        return draw(st.sampled_from([key, "\\u0061"])) if key == "a" else key
    inner = json.dumps(key, ensure_ascii=draw(st.booleans()))[1:-1]
    if quote == "'":
        inner = inner.replace("'", "\\'")
    quote = quote or '"'
    return quote + inner + quote


@st.composite
def values(draw: st.DrawFn, line: str, depth: int, unique: bool) -> str:
    """A value as text. `line` is what starts the lines around it; empty in documents of one line."""
    shape = draw(st.sampled_from(["scalar", "list", "object", "object"])) if depth else "scalar"
    if shape == "scalar":
        return draw(st.sampled_from(SCALARS))
    deeper = line + draw(st.sampled_from(["  ", "\t", ""])) if line else ""
    parts = []
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=unique)):
        part = draw(values(deeper, depth - 1, unique))
        if shape == "object":
            part = draw(keys(key)) + draw(gaps("")) + ":" + draw(gaps(" ")) + part
        parts.append(draw(gaps(deeper)) + part + draw(gaps("")))
    comma = draw(st.sampled_from(["", ","])) if parts else ""
    inner = ",".join(parts) + comma + draw(gaps(line if parts else ""))
    return f"[{inner}]" if shape == "list" else f"{{{inner}}}"


@st.composite
def documents(draw: st.DrawFn, unique: bool = False) -> bytes:
    """JSON5, orderly or not. `unique`: no key stands twice in an object."""
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    line = draw(st.sampled_from(["", "\n", "\r\n"]))
    return (mark + draw(gaps("")) + draw(values(line, 4, unique)) + draw(gaps(line))).encode()


def objects_in(whole: object) -> list[KeyPath]:
    return [path for path in paths(whole) if isinstance(at(whole, path), dict)]


@st.composite
def missing(draw: st.DrawFn, whole: object) -> KeyPath:
    """A path that leads through an object to nothing. The document has an object."""
    path = draw(st.sampled_from(objects_in(whole)))
    free = [key for key in [*KEYS, "new"] if key not in at(whole, path)]
    return (*path, draw(st.sampled_from(free)), *draw(st.lists(st.sampled_from(KEYS), max_size=3)))


@st.composite
def wishes(draw: st.DrawFn, whole: object) -> tuple[KeyPath, bool]:
    """Any path that can be edited, and whether it leads to something."""
    if not objects_in(whole) or draw(st.booleans()):
        return draw(st.sampled_from(paths(whole))), True
    return draw(missing(whole)), False


@runs
@given(documents(), VALUES, st.data())
def test_an_edit_changes_one_value_and_no_other_byte(
    source: bytes, value: object, data: st.DataObject
) -> None:
    old = read_json5(source)
    path, present = data.draw(wishes(old))
    new = with_setting(source, path, value)
    assert said(read_json5(new)) == said(changed(old, path, value))
    if said(at(old, path) if present else object) == said(value):
        assert new == source
    elif present:
        assert_only_the_value_is_replaced(source, new, path)
    else:
        assert_something_is_inserted(source, new)
    assert with_setting(new, path, value) == new


@runs
@given(documents(), VALUES, st.data())
def test_undo_restores_the_old_bytes(source: bytes, value: object, data: st.DataObject) -> None:
    path, _ = data.draw(wishes(read_json5(source)))
    with TemporaryDirectory() as folder:
        file = Path(folder, "settings")
        file.write_bytes(source)
        change = Change(file, "", source, with_setting(source, path, value))
        apply_change(change)
        assert file.read_bytes() == change.new
        apply_change(change.undo())
        assert file.read_bytes() == source


@runs
@given(documents(), VALUES, st.data())
def test_removing_an_added_member_keeps_comments(source: bytes, value: object, data: st.DataObject) -> None:
    old = read_json5(source)
    assume(objects_in(old))
    path = data.draw(missing(old))
    depth = next(length for length in range(len(path)) if path[: length + 1] not in set(paths(old)))
    removed = without_setting(with_setting(source, path, value), path[: depth + 1])
    assert said(read_json5(removed)) == said(old)
    assert removed.decode().count("§") == source.decode().count("§")


@runs
@given(documents(unique=True), st.data())
def test_any_member_that_occurs_once_can_be_removed(source: bytes, data: st.DataObject) -> None:
    old = read_json5(source)
    members = [path for path in paths(old) if path and isinstance(path[-1], str)]
    assume(members)
    path = data.draw(st.sampled_from(members))
    left = copy.deepcopy(old)
    del at(left, path[:-1])[path[-1]]
    assert said(read_json5(without_setting(source, path))) == said(left)


def assert_only_the_value_is_replaced(source: bytes, new: bytes, path: KeyPath) -> None:
    span = locate_json5(source, path)
    assert span is not None
    text = source.decode()
    before, after = text[: span.start].encode(), text[span.end :].encode()
    assert new.startswith(before)
    assert new.endswith(after)
    assert len(new) >= len(before) + len(after)


def assert_something_is_inserted(source: bytes, new: bytes) -> None:
    pairs = enumerate(zip(source, new, strict=False))
    start = next((place for place, (old, now) in pairs if old != now), len(source))
    assert new[start + len(new) - len(source) :] == source[start:]


def paths(value: object, path: KeyPath = ()) -> list[KeyPath]:
    parts: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    return [path, *(below for key, part in parts for below in paths(part, (*path, key)))]


def at(value: Any, path: KeyPath) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: KeyPath, new: object) -> object:
    """The obvious way, on a copy."""
    whole = {"root": copy.deepcopy(value)}
    into: Any = whole
    for step in ("root", *path[:-1])[: len(path)]:
        into = at(into, (step,)) if (step,) in paths(into) else into.setdefault(step, {})
    into[path[-1] if path else "root"] = new
    return whole["root"]


def said(value: object) -> str:
    """One text for each meaning: JSON keeps `true`, `1` and `1.0` apart, and NaN is NaN."""
    return json.dumps(value, sort_keys=True, default=repr)
