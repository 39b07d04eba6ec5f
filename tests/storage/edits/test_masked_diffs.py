"""The diff that people are shown of an edit: its secrets masked, in work that grows with the file."""

import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from hookscope.storage.edits.change import Change
from hookscope.storage.edits.masked_preview import hides_secrets, masked_preview


def change(old: str, new: str) -> Change:
    return Change(Path("settings.json"), "a change", old.encode(), new.encode())


def switched(document: dict[str, Any]) -> Change:
    """The change of a document whose last member is switched."""
    old, new = (json.dumps({**document, "on": on}, indent=1) for on in (True, False))
    return change(old, new)


def test_a_late_hunk_has_correct_line_numbers() -> None:
    diff = masked_preview(switched({f"k{at}": at for at in range(300)}))
    assert diff.splitlines()[2:] == [
        "@@ -301,3 +301,3 @@",
        '  "k299": 299,',
        '- "on": true',
        '+ "on": false',
        " }",
        "\\ No newline at end of file",
    ]


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ('"gateway": {"token": "correct-horse"}', '"note": "correct-horse"'),
        ('"env": {"API_KEY": "c0rrect-h0rse"}', '"note": "see c0rrect-h0rse/x"'),
        ('"x": {"password": "a\\\\\\"b-horse"}', '"note": "a\\\\\\"b-horse"'),
        ('// token: correct-horse-9\n"a": 1', '"note": "correct-horse-9"'),
    ],
)
def test_a_secret_defined_elsewhere_is_masked_in_the_diff(above: str, below: str) -> None:
    head = f"{{{above},\n" + "".join(f'"k{at}": {at},\n' for at in range(20))
    made = change(f'{head}{below},\n"on": true}}', f'{head}{below},\n"on": false}}')
    assert hides_secrets(made)
    assert "horse" not in masked_preview(made).replace("h0rse", "horse")


def test_repeated_lines_reveal_no_masked_value() -> None:
    item = '{\n"token": "pA55-word-1"\n},\n'
    made = change(f"[\n{item * 40}1\n]", f"[\n{item * 39}1\n]")
    assert "pA55" not in masked_preview(made)


def test_an_unreadable_side_is_masked_by_patterns() -> None:
    key = "sk-ant-api03-" + "aB3dE5gH7jK9mN1p" * 3
    assert key not in masked_preview(change(f'{{"a": "{key}",\n', '{"a": 1}'))


@pytest.mark.parametrize("kind", ["numbers", "secrets", "addresses", "list"])
def test_masking_a_diff_takes_linear_work(kind: str) -> None:
    few, many = (work_of(switched({"more": grown(kind, count)})) for count in (400, 800))
    assert many < few * 2.5, (few, many)


def grown(kind: str, count: int) -> object:
    match kind:
        case "numbers":
            return {f"k{at}": {"a": at, "b": "x" * 20} for at in range(count)}
        case "secrets":
            return {f"k{at}": {"token": f"tok{at}-abcdefgh"} for at in range(count)}
        case "addresses":
            return {f"k{at}": f"https://me:p4ss{at}word@host.example/{at}" for at in range(count)}
        case _:
            return list(range(count))


def work_of(made: Change) -> int:
    """How many lines run while a diff is made."""
    lines = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        masked_preview(made)
    finally:
        sys.settrace(before)
    return lines
