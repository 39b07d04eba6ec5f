"""One value is set or removed, and every other byte of the document stays."""

import json
from pathlib import Path

import pytest

from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Edit
from hookscope.storage.edits import json5_edit as module
from hookscope.storage.edits.atomic_files import CannotEdit
from hookscope.storage.edits.json5_edit import dotted_path, with_setting, with_settings, without_setting

X = ("hooks", "x", "enabled")
Case = tuple[str, str, KeyPath, object, str]

REPLACED: list[Case] = [
    ("json", '{"a": true}', ("a",), False, '{"a": false}'),
    ("deep", '{"hooks": {"x": {"enabled": true}}}', X, False, '{"hooks": {"x": {"enabled": false}}}'),
    ("line feeds", '{\n  "a": 1\n}\n', ("a",), 2, '{\n  "a": 2\n}\n'),
    ("carriage returns", '{\r\n  "a": 1,\r\n}\r\n', ("a",), 2, '{\r\n  "a": 2,\r\n}\r\n'),
    ("mixed line ends", "{\r\n a: 1,\n b: 2,\r c: 3}", ("b",), 0, "{\r\n a: 1,\n b: 0,\r c: 3}"),
    ("byte order mark", '\ufeff{"a": 1}', ("a",), 2, '\ufeff{"a": 2}'),
    ("no final newline", '// c\n{"a": 1}', ("a",), 2, '// c\n{"a": 2}'),
    ("text after the document", "{a: 1} // end }", ("a",), 2, "{a: 2} // end }"),
    ("comment before the colon", "{a /* : 9 */ : 1}", ("a",), 2, "{a /* : 9 */ : 2}"),
    ("comment after the colon", "{a: // b: 9\n 1}", ("a",), 2, "{a: // b: 9\n 2}"),
    ("comment after the value", "{a: 1/* a: 9 */}", ("a",), 2, "{a: 2/* a: 9 */}"),
    ("comment that looks like it", '{// "a": 9\n"a": 1}', ("a",), 2, '{// "a": 9\n"a": 2}'),
    ("stars in comments", "{/***/a: 1/* ** / */}", ("a",), 2, "{/***/a: 2/* ** / */}"),
    ("braces in strings", '{"}{": "}", a: 1}', ("a",), 2, '{"}{": "}", a: 2}'),
    ("slashes in strings", '{u: "http://a/*b", a: 1}', ("a",), 2, '{u: "http://a/*b", a: 2}'),
    ("quotes in strings", "{u: 'it\\'s \"', a: 1}", ("a",), 2, "{u: 'it\\'s \"', a: 2}"),
    ("backslash at the end", '{u: "c:\\\\", a: 1}', ("a",), 2, '{u: "c:\\\\", a: 2}'),
    ("continued string", "{u: 'a\\\nb', a: 1}", ("a",), 2, "{u: 'a\\\nb', a: 2}"),
    ("key with spaces", '{"my hook": 1}', ("my hook",), 2, '{"my hook": 2}'),
    ("key with dots", '{a: {b: 1}, "a.b": 1}', ("a.b",), 2, '{a: {b: 1}, "a.b": 2}'),
    ("key of nothing", '{"": 1}', ("",), 2, '{"": 2}'),
    ("key with escapes", '{"\\u0061\\n": 1}', ("a\n",), 2, '{"\\u0061\\n": 2}'),
    ("key of other letters", "{é: 1}", ("é",), 2, "{é: 2}"),
    ("last duplicate", "{a: 1, a: 1, b: 1}", ("a",), 2, "{a: 1, a: 2, b: 1}"),
    ("last duplicate parent", "{h: {a: 1}, h: {a: 1}}", ("h", "a"), 2, "{h: {a: 1}, h: {a: 2}}"),
    ("same key elsewhere", "{b: {a: 1}, a: 1}", ("a",), 2, "{b: {a: 1}, a: 2}"),
    ("item of a list", "{d: [1, {a: 1}]}", ("d", 1, "a"), 2, "{d: [1, {a: 2}]}"),
    ("hexadecimal", "{a: 0x1F}", ("a",), 2, "{a: 2}"),
    ("null", "{a: null}", ("a",), True, "{a: true}"),
    ("one is not true", "{a: 1}", ("a",), True, "{a: true}"),
    ("string in its quotes", "{a: 'x'}", ("a",), "it's", "{a: 'it\\'s'}"),
    ("string in double quotes", "{a: 1}", ("a",), 'say "é"', '{a: "say \\"é\\""}'),
    ("string that cannot be seen", "{a: 1}", ("a",), "\u202e\n", '{a: "\\u202e\\n"}'),
    ("object on one line", "{a: {b: 1}}", ("a",), {"c": 2}, "{a: {c: 2}}"),
    ("object on lines", "{\n a: {\n  b: 1\n }\n}", ("a",), {"c": [2]}, "{\n a: {\n  c: [\n   2\n  ]\n }\n}"),
    ("list on lines", '{\n\t"a": [\n\t\t1\n\t]\n}', ("a",), [2, 3], '{\n\t"a": [\n\t\t2,\n\t\t3\n\t]\n}'),
    ("a tuple is a list", "{a: []}", ("a",), ("b",), '{a: ["b"]}'),
    ("the whole document", "1 // one", (), 2, "2 // one"),
    ("already so", "{a: 0x10, a: +1}", ("a",), 1, "{a: 0x10, a: +1}"),
]

INSERTED: list[Case] = [
    ("first of several", '{\n  "a": 1\n}', ("b",), 2, '{\n  "b": 2,\n  "a": 1\n}'),
    ("carriage returns", '{\r\n\t"a": 1\r\n}', ("b",), 2, '{\r\n\t"b": 2,\r\n\t"a": 1\r\n}'),
    ("lone carriage returns", "{\r a: 1\r}", ("b",), 2, "{\r b: 2,\r a: 1\r}"),
    ("byte order mark", '\ufeff{\n "a": 1}', ("b",), 2, '\ufeff{\n "b": 2,\n "a": 1}'),
    ("trailing comma", "{\n  a: 1,\n}", ("b",), 2, "{\n  b: 2,\n  a: 1,\n}"),
    ("one line", '{"a": 1}', ("b",), 2, '{"b": 2, "a": 1}'),
    ("one line, airy", "{ a: 1 }", ("b",), 2, "{ b: 2, a: 1 }"),
    ("one line, tight", '{"a":1}', X, True, '{"hooks":{"x":{"enabled":true}},"a":1}'),
    ("single quotes", "{'a': 1}", ("b",), "c", "{'b': 'c', 'a': 1}"),
    ("no quotes", "{a: 1}", ("b",), 2, "{b: 2, a: 1}"),
    ("quotes where needed", "{a: 1}", ("b c",), 2, '{"b c": 2, a: 1}'),
    ("key with a quote", "{'a': 1}", ("it's",), 2, "{'it\\'s': 2, 'a': 1}"),
    ("dotted key is one key", "{a: {b: 1}}", ("a.b",), 2, '{"a.b": 2, a: {b: 1}}'),
    ("comment of the neighbour", "{\n  // of a\n  a: 1}", ("b",), 2, "{\n  b: 2,\n  // of a\n  a: 1}"),
    ("comment of the brace", "{ // all\n  a: 1}", ("b",), 2, "{ // all\n  b: 2,\n  a: 1}"),
    ("long comment of the brace", "{ /* x\n y */\n  a: 1}", ("b",), 2, "{ /* x\n y */\n  b: 2,\n  a: 1}"),
    ("comment on one line", "{ /* of a */ a: 1}", ("b",), 2, "{ b: 2, /* of a */ a: 1}"),
    ("comment only", "{ // all\n}", ("b",), 2, '{ // all\n  "b": 2\n}'),
    ("comment in braces", "{/* } */}", ("b",), 2, '{"b": 2/* } */}'),
    ("empty document", "{}", ("b",), 2, '{\n  "b": 2\n}'),
    ("empty with a blank", "{ }\n", ("b",), 2, '{ "b": 2 }\n'),
    ("empty over lines", "{\r\n}\r\n", ("b",), 2, '{\r\n  "b": 2\r\n}\r\n'),
    ("empty object", '{\n\t"x": {}\n}', ("x", "b"), 2, '{\n\t"x": {\n\t\t"b": 2\n\t}\n}'),
    ("empty object on one line", "{x: {}, y: 1}", ("x", "b"), 2, "{x: {b: 2}, y: 1}"),
    ("empty object, its line", "{\n x: { y: {} }\n}", ("x", "y", "b"), 2, "{\n x: { y: {b: 2} }\n}"),
    ("empty object in a list", "[{}]", (0, "b"), 2, '[{"b": 2}]'),
    (
        "missing levels",
        '{\n    "z": 1\n}\n',
        X,
        True,
        '{\n    "hooks": {\n        "x": {\n            "enabled": true\n        }\n    },\n    "z": 1\n}\n',
    ),
    (
        "deepest object",
        "{\n  hooks: {\n    // y\n    'y': {},\n  },\n}",
        X,
        True,
        "{\n  hooks: {\n    'x': {\n      'enabled': true\n    },\n    // y\n    'y': {},\n  },\n}",
    ),
    ("last duplicate", "{h: {a: 1}, h: {b: 1}}", ("h", "a"), 2, "{h: {a: 1}, h: {a: 2, b: 1}}"),
    ("members without indentation", "{\na: {\nb: 1\n}\n}", ("a", "c"), 2, "{\na: {\nc: 2,\nb: 1\n}\n}"),
    ("strange blanks", "{\u00a0\ufeff\n\u00a0a: 1}", ("b",), 2, "{\u00a0\ufeff\n\u00a0b: 2,\n\u00a0a: 1}"),
    ("line separator", "{\u2028 a: 1}", ("b",), 2, "{\u2028 b: 2,\u2028 a: 1}"),
    ("only a comment", "// mine", ("a",), 1, '// mine\n{\n  "a": 1\n}\n'),
]

REMOVED: list[tuple[str, str, KeyPath, str]] = [
    ("first", "{a: 1, b: 2}", ("a",), "{b: 2}"),
    ("last", "{ a: 1, b: 2 }", ("b",), "{ a: 1 }"),
    ("middle", "{a: 1, b: 2, c: 3}", ("b",), "{a: 1, c: 3}"),
    ("only", "{ a: 1, }", ("a",), "{}"),
    ("only, deep", "{x: {\n a: 1\n}, y: 2}", ("x", "a"), "{x: {}, y: 2}"),
    ("with its line", "{\n  a: 1,\n  b: 2,\n}", ("a",), "{\n  b: 2,\n}"),
    ("last line", "{\r\n  a: 1,\r\n  b: 2\r\n}", ("b",), "{\r\n  a: 1\r\n}"),
    ("comma first", "{ a: 1\n, b: 2\n, c: 3\n}", ("b",), "{ a: 1\n, c: 3\n}"),
    (
        "comments of neighbours",
        "{a: 1, // of a\n b: 2,\n // of c\n c: 3}",
        ("b",),
        "{a: 1, // of a\n // of c\n c: 3}",
    ),
    ("comment before the last", "{\n a: 1, // of a\n b: 2\n}", ("b",), "{\n a: 1 // of a\n}"),
    ("last after a comment", "{\n a: 1, // of a\n b: 2}", ("b",), "{\n a: 1 // of a\n}"),
    ("comment before the comma", "{a: 1 // of a\n , b: 2}", ("a",), "{ // of a\n  b: 2}"),
    ("comment stays", "{a: 1 /* c */}", ("a",), "{ /* c */}"),
    ("commas in strings", "{'a,': ',', b: 2}", ("a,",), "{b: 2}"),
    ("missing", "{a: 1}", ("b", "c"), "{a: 1}"),
]

REFUSED: list[tuple[str, KeyPath, str]] = [
    ("{hooks: true}", X, "`hooks` is not an object. By hand: `hooks.x.enabled: true`"),
    ("{hooks: null}", X, "`hooks` is not an object. By hand: `hooks.x.enabled: true`"),
    ("{hooks: [1]}", X, "`hooks` is not an object. By hand: `hooks.x.enabled: true`"),
    ("[]", X, "The document is not an object. By hand: `hooks.x.enabled: true`"),
    ("{d: [1]}", ("d", 1), "`d` is not an object. By hand: `d[1]: true`"),
    ("{}", ("d", 0), "Lists cannot be created or extended. By hand: `d[0]: true`"),
    ("// none", (0,), "Lists cannot be created or extended. By hand: `[0]: true`"),
    (
        "{a: }",
        ("a",),
        "The file cannot be read: line 1, column 5: expected a value, found `}`. By hand: `a: true`",
    ),
    ("{a: 1", ("a",), "The file cannot be read: line 1, column 1: unclosed object. By hand: `a: true`"),
]


@pytest.mark.parametrize(
    ("before", "path", "value", "after"), [case[1:] for case in REPLACED], ids=[case[0] for case in REPLACED]
)
def test_setting_a_value_replaces_exactly_the_old_one(
    before: str, path: KeyPath, value: object, after: str
) -> None:
    assert with_setting(before.encode(), path, value).decode() == after


@pytest.mark.parametrize(
    ("before", "path", "value", "after"), [case[1:] for case in INSERTED], ids=[case[0] for case in INSERTED]
)
def test_a_new_member_is_formatted_like_its_neighbours(
    before: str, path: KeyPath, value: object, after: str
) -> None:
    assert with_setting(before.encode(), path, value).decode() == after


@pytest.mark.parametrize(
    ("before", "path", "after"), [case[1:] for case in REMOVED], ids=[case[0] for case in REMOVED]
)
def test_removing_a_member_removes_its_comma_and_keeps_comments(
    before: str, path: KeyPath, after: str
) -> None:
    assert without_setting(before.encode(), path).decode() == after


@pytest.mark.parametrize(("source", "path", "sentence"), REFUSED, ids=[case[0] for case in REFUSED])
def test_ambiguous_settings_are_not_edited(source: str, path: KeyPath, sentence: str) -> None:
    with pytest.raises(CannotEdit) as refused:
        with_setting(source.encode(), path, True)
    assert str(refused.value) == sentence


def test_a_missing_file_becomes_a_minimal_document() -> None:
    assert json.loads(with_setting(None, X, True)) == {"hooks": {"x": {"enabled": True}}}


def test_a_new_member_of_a_long_file_is_one_line() -> None:
    source = json.dumps({"a": {str(index): index for index in range(1000)}}, indent=2).encode()
    assert with_setting(source, ("a", "new"), 1) == source.replace(
        b'{\n    "0"', b'{\n    "new": 1,\n    "0"'
    )


def test_binary_settings_are_refused() -> None:
    with pytest.raises(CannotEdit, match="byte 0xFF is not UTF-8 text"):
        with_setting(b'{"a": "\xff"}', ("a",), 1)


def test_a_value_that_json_cannot_express_raises() -> None:
    with pytest.raises(TypeError):
        with_setting(b"{}", ("a",), object())


def test_a_surrogate_is_refused() -> None:
    with pytest.raises(CannotEdit, match="would change more"):
        with_setting(b"{}", ("a",), "\ud83d")


def test_an_edit_that_nests_too_deeply_is_refused() -> None:
    with pytest.raises(CannotEdit, match="would change more"):
        with_setting(b"{}", ("a",) * 65, 1)


def test_an_edit_that_reads_back_differently_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_replaced", lambda *_: "{a: 2, b: 2}")
    with pytest.raises(CannotEdit, match=r"would change more than it should\. By hand: `a: 2`"):
        with_setting(b"{a: 1, b: 1}", ("a",), 2)


@pytest.mark.parametrize("path", [(), ("d", 0)])
def test_only_members_of_objects_are_removed(path: KeyPath) -> None:
    with pytest.raises(CannotEdit, match="Only members"):
        without_setting(b"{d: [1]}", path)


def test_a_duplicate_member_is_not_removed() -> None:
    with pytest.raises(CannotEdit, match="By hand: `remove a`"):
        without_setting(b"{a: 1, a: 2}", ("a",))


def test_several_edits_are_applied_in_order() -> None:
    steps: list[tuple[KeyPath, object]] = [(("e", "x"), 1), (("on",), True), (("e", "y"), 2), (("e", "x"), 3)]
    edits = [Edit(Path("settings"), path, value, "") for path, value in steps]
    assert with_settings(b"{ z: 0 }", edits) == b"{ on: true, e: {y: 2, x: 3}, z: 0 }"


def test_a_settings_path_is_shown_in_dot_notation() -> None:
    assert dotted_path(("hooks", "my hook", "a.b", "dirs", 0, "x")) == 'hooks."my hook"."a.b".dirs[0].x'


def test_every_edited_case_parses_to_the_requested_value() -> None:
    for _, _, path, value, after in REPLACED + INSERTED:
        found: object = read_json5(after.encode())
        for step in path:
            assert isinstance(found, dict | list)
            found = found[step]  # type: ignore[index]  # the path leads there
        assert json.dumps(found) == json.dumps(value)
