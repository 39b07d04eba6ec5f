"""What a run did, as what its saved event expects from now on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.changes import Change, ChangeError, apply
from hookscope.core.runs import Run
from hookscope.formats import FormatError, locate_yaml, read_yaml, text_of
from hookscope.workbench.expect import ABSENT, FILES, UNKNOWN, Miss, was_blocked
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saving import flow
from hookscope.workbench.testing import Checked

WILD = re.compile(r"[*?[]")  # what a pattern would take for more than itself
BY_HAND = "Write it by hand, or give `expect:` a line of its own."


def draft(run: Run, files: Sequence[str] | None = None) -> Mapping[str, Any]:
    """The first expectations of an event that has none: errors, messages, who ran, if it was blocked, and
    the files where they are known."""
    wanted: dict[str, Any] = {
        "errors": len(run.failed),
        "messages": _patterns(run.messages),
        "ran": _patterns([result.call.name for result in run.results]),
    }
    if run.event.kind == "plugin":
        wanted["blocked"] = was_blocked(run)
    return wanted if files is None else {**wanted, FILES: _patterns(files)}


def acceptance(item: Checked) -> Change | None:
    """The edit that makes what happened expected; None where nothing is to be written.

    Only what was missed is replaced; a file without expectations gets a draft. Raises Refusal where the
    event did not run as it should, or the file cannot be edited with certainty.
    """
    if item.steps and item.passed:
        return None
    if item.steps:
        raise Refusal(f"{item.file} is a sequence.", "Write what its steps expect by hand.")
    if item.run is None or item.left or item.run.cancelled:
        raise Refusal(f"{item.file} is not accepted: it did not run as a whole.", "Mend that first.")
    try:
        source = item.file.read_bytes()
        document = read_yaml(source)
        text = text_of(source)
    except OSError as error:
        raise Refusal(f"Cannot read {item.file}: {error.strerror}.") from None
    except FormatError as error:
        raise Refusal(f"{item.file}, {error}.") from None
    if not isinstance(document, dict):
        raise Refusal(f"{item.file} is no saved event any more.", "Fire it again.")
    before = document.get("expect")
    if before and not item.misses:
        return None
    wanted = (
        _with_news(before, item.misses)
        if isinstance(before, dict) and before
        else draft(item.run, item.files)
    )
    new = _edited(source, text, item.misses if before else (), wanted).encode("utf-8", "replace")
    if not _says(new, {**document, "expect": wanted}):
        raise Refusal(f"{item.file} cannot be edited with certainty.", BY_HAND)
    return Change(item.file, f"accept what happened in {item.file.name}", source, new)


def accept(item: Checked) -> bool:
    """Write it; False where nothing was to be written. Raises Refusal; then the file is as it was."""
    change = acceptance(item)
    if change is not None:
        write(change)
    return change is not None


def write(change: Change) -> None:
    """Make an acceptance so. Raises Refusal; then the file is as it was."""
    try:
        apply(change)
    except ChangeError as error:
        raise Refusal(str(error)) from None


def _with_news(before: Mapping[str, Any], misses: tuple[Miss, ...]) -> Mapping[str, Any]:
    wanted = dict(before)
    for miss in misses:
        name, _, path = miss.what.partition(".")
        wanted[name] = {**wanted[name], path: _value(miss)} if path else _value(miss)
    return wanted


def _value(miss: Miss) -> Any:
    """What is expected instead. Raises Refusal for what cannot be."""
    if miss.got == ABSENT:
        raise Refusal(f"{miss.what} is not there any more.", "Take its line out of `expect:`.")
    if miss.got == UNKNOWN:
        raise Refusal("What files it wrote is not known.", "Fire it on copies.")
    if isinstance(miss.expected, list) and isinstance(miss.got, list):
        return _patterns(miss.got) if miss.what in ("messages", "ran", FILES) else miss.got
    return math.ceil(miss.got) if isinstance(miss.got, float) and miss.what == "max_ms" else miss.got


def _patterns(texts: Any) -> list[str]:
    return [WILD.sub(r"[\g<0>]", text) for text in texts]


def _edited(source: bytes, text: str, misses: tuple[Miss, ...], wanted: Mapping[str, Any]) -> str:
    """The text with every missed value replaced where it stands, from the last to the first."""
    place = locate_yaml(source, ("expect",))
    if place is None:
        line_end = "" if text.endswith("\n") else "\n"
        return f"{text}{line_end}expect:\n" + "".join(
            f"  {key}: {flow(item)}\n" for key, item in wanted.items()
        )
    if not misses:  # there is the word, and nothing behind it
        return f"{text[: place.start].rstrip(' ')} {flow(wanted)}{text[place.end :]}"
    edits = []
    for miss in misses:
        name, _, path = miss.what.partition(".")
        span = locate_yaml(source, ("expect", name, path) if path else ("expect", name))
        now = flow(wanted[name][path] if path else wanted[name])
        if span is not None:
            level = span.line > place.line and span.column == place.column  # a list no deeper than its key
            edits.append((span.start, span.end, f"  {now}" if level else now))
        elif text[place.start] == "{":
            edits.append((place.start + 1, place.start + 1, f"{name}: {now}, "))
        else:
            edits.append((place.start, place.start, f"{name}: {now}\n{' ' * (place.column - 1)}"))
    for start, end, now in sorted(edits, reverse=True):
        text = text[:start] + now + text[end:]
    return text


def _says(source: bytes, document: Mapping[str, Any]) -> bool:
    try:
        return read_yaml(source) == document
    except FormatError:
        return False
