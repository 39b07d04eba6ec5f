"""What an install sets in the host's settings, and how exactly that is taken back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from hookscope.changes.meanings import MISSING, reached, same, value_at
from hookscope.changes.settings_edit import dotted, edited, meaning_of, without
from hookscope.formats import KeyPath
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that is to stand at a path; with `item`, in the list there."""

    path: KeyPath
    value: object
    item: bool = False

    @property
    def meaning(self) -> str:
        """It, for people: `path: value`, or `path + item` of a list."""
        sign = " + " if self.item else ": "
        return f"{dotted(self.path)}{sign}{json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that was set, and what stood there before."""

    wanted: Wanted
    before: object  # MISSING: nothing; of a list the whole of it
    stood: int  # how many steps of the path there were

    def document(self) -> dict[str, Any]:
        """It, for the record of installs."""
        told: dict[str, Any] = {
            "path": list(self.wanted.path),
            "value": self.wanted.value,
            "item": self.wanted.item,
            "stood": self.stood,
        }
        return told if self.before is MISSING else {**told, "before": self.before}


def setting_from(document: Any) -> Setting:
    """Raises KeyError, TypeError or ValueError for what `document` has not made."""
    path = tuple(step if isinstance(step, int) else str(step) for step in document["path"])
    wanted = Wanted(path, document["value"], bool(document["item"]))
    return Setting(wanted, document.get("before", MISSING), int(document["stood"]))


def made(source: bytes | None, wanted: Iterable[Wanted]) -> tuple[bytes | None, tuple[Setting, ...]]:
    """The document with all that is wanted, and what that took. Raises CannotEdit."""
    settings = []
    for want in wanted:
        now = meaning_of(source or b"", want.meaning)
        found = value_at(now, want.path)
        value = want.value
        if want.item:
            listed = found if isinstance(found, list) else []
            if any(same(one, value) for one in listed):
                continue
            value = [*listed, value]
        elif same(found, value):
            continue
        source = edited(source, want.path, value)
        settings.append(Setting(want, found, reached(now, want.path)))
    return source, tuple(settings)


def unmade(source: bytes | None, settings: Sequence[Setting]) -> tuple[bytes | None, tuple[Setting, ...]]:
    """The document without these settings, and those that are no longer as they were set: they stay.

    Raises CannotEdit.
    """
    left = []
    for setting in reversed(settings):
        if source is None:
            break
        path, line = setting.wanted.path, f"remove {dotted(setting.wanted.path)}"
        found = value_at(meaning_of(source, line), path)
        if found is MISSING:
            continue
        back = _before(setting, found)
        if back is None:
            left.append(setting)
        elif back[0] is MISSING:
            source = _pruned(without(source, path), path, setting.stood)
        else:
            source = edited(source, path, back[0])
    return source, tuple(reversed(left))


def _before(setting: Setting, found: object) -> tuple[object] | None:
    """What is to stand there again; None where somebody has changed it since."""
    if not setting.wanted.item:
        return (setting.before,) if same(found, setting.wanted.value) else None
    if not isinstance(found, list):
        return None
    rest = [one for one in found if not same(one, setting.wanted.value)]
    return (MISSING,) if not rest and setting.before is MISSING else (rest,)


def _pruned(source: bytes, path: KeyPath, stood: int) -> bytes:
    """Without the objects that were made for this path alone, where nothing else has come into them."""
    for length in range(len(path) - 1, stood, -1):
        line = f"remove {dotted(path[:length])}"
        if value_at(meaning_of(source, line), path[:length]) != {}:
            break
        source = without(source, path[:length])
    return source
