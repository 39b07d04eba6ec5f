"""How the shipped programs read a HOOK.md. Rules note, section 1.3."""

import json
from pathlib import Path

import pytest

from hookscope.formats.script_values import script_text
from hookscope.hosts.folders.manifest import Manifest
from hookscope.hosts.folders.shipped_headers import read_line_header
from hookscope.model.hook import Metadata

META = '{"milady": {"events": ["command:new"]}}'


def read(text: str) -> Manifest | None:
    return read_line_header(text.encode(), "folder", "milady")


def known(text: str) -> Manifest:
    manifest = read(text)
    assert manifest is not None
    return manifest


def meta(own: object) -> Metadata:
    return known(f"---\nname: x\nmetadata: {json.dumps({'milady': own})}\n---\n").meta


@pytest.mark.parametrize(
    "text",
    [
        "name: x\n---\n",
        "\n---\nname: x\n---\n",
        "\ufeff---\nname: x\n---\n",
        "---\nname: x\n",
        "--- name: x\n---\n",
        "---\ndescription: no name\n---\n",
        "---\n  name: indented\n---\n",
        '---\nname: ""\n---\n',
    ],
)
def test_a_header_that_does_not_count(text: str) -> None:
    manifest = read(text)
    assert manifest is None or not manifest.name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("name: x", "x"),
        ("name:x", "x"),
        ("name: x # y", "x # y"),
        ("name: 'x'", "x"),
        ('name: "it\'s"', "it's"),
        ("name: \"'x'\"", "'x'"),
        ("name: one\nname: two", "two"),
        ("name: x\r", "x"),
        ("name: 7", "7"),
    ],
)
def test_values_are_what_stands_on_the_line(line: str, name: str) -> None:
    assert known(f"---\n{line}\n---\n").name == name


def test_blank_lines_and_crlf_after_the_opening_are_fine_and_it_closes_at_any_dashes() -> None:
    manifest = known("---\r\n\r\nname: x\r\ndescription: it\r\n--- and more\r\nname: y\r\n---\r\n")
    assert (manifest.name, manifest.description) == ("x", "it")


@pytest.mark.parametrize(
    ("block", "events", "warns"),
    [
        (f"metadata: {META}", ("command:new",), False),
        ('metadata: {"milady":\n  {"events": ["a"]}}', ("a",), False),
        (f"description: metadata: {META}\nmetadata: 1", ("command:new",), False),
        (f"metadata: {META}\nhomepage: a }}", ("command:new",), False),  # the line alone is tried as well
        ('metadata: {"milady":\n  {"events": ["a"]}}\nhomepage: a }', (), True),
        (f"metadata: {META[:-1]},}}", (), True),
        ("metadata: {milady: {events: [a]}}", (), True),
        ('metadata: {"milady": {"events": ["a"], "x": NaN}}', (), True),
        ("metadata:\n  milady:\n    events: [a]", (), False),
        (f"metadata:\n  {META}", (), False),
        ("metadata: none", (), False),
        ('metadata: {"openclaw": {"events": ["a"]}}', (), False),
        ('metadata: {"milady": ["a"]}', (), False),
    ],
)
def test_metadata_is_json_that_begins_on_its_line(block: str, events: tuple[str, ...], warns: bool) -> None:
    manifest = known(f"---\nname: x\n{block}\n---\n")
    assert manifest.meta.events == events
    assert bool(manifest.warnings) is warns
    assert bool(manifest.meta.notes) is (not events and '"milady": [' not in block)


def test_fields_are_taken_over_as_they_are() -> None:
    own = {"hookKey": "", "emoji": "", "export": "", "always": "no", "events": "command", "homepage": None}
    taken = meta(own)
    assert (taken.hook_key, taken.emoji, taken.export, taken.always) == ("", "", "", True)
    assert taken.events == ()
    assert meta({"requires": {"bins": "git", "env": ["A"]}, "os": 5}).unvalidated == {"bins": "git", "os": 5}
    assert meta({"requires": {"env": ["A", 1]}}).requires.env == ("A", "1")


def test_the_page_of_the_header_stands_in_for_that_of_the_metadata() -> None:
    header = f"---\nname: x\nhomepage: https://a.example\nmetadata: {META}\n---\n"
    assert known(header).meta.homepage == "https://a.example"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([1, None, "a"], "1,,a"),
        ({}, "[object Object]"),
    ],
)
def test_values_as_javascript_writes_them(value: object, text: str) -> None:
    assert script_text(value) == text


def test_nesting_beyond_all_measure_is_no_json() -> None:
    assert known("---\nname: x\nmetadata: {" + "[" * 100_000 + "}\n---\n").warnings


def test_reading_the_file_needs_no_utf8() -> None:
    manifest = read_line_header(b"---\nname: \xff\n---\n", Path("folder").name, "milady")
    assert manifest is not None
    assert manifest.name == "\ufffd"
