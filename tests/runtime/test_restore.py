"""What the worker compares behind each handler: nothing where nobody touched it, and rightly else."""

import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.runtime.python_worker import process_baseline, standard_library

COUNTED = pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info >= (3, 13),
    reason="this interpreter gives dictionaries no version",
)
CHANGES = ("set", "replace", "delete", "update", "clear", "pop", "default")
LOOKS = ("get", "in", "len", "list", "copy")


def do(what: str, names: dict[str, Any], key: str, value: object) -> None:
    match what:
        case "set" | "replace":
            names[key] = value
        case "delete" if key in names:
            del names[key]
        case "update":
            names.update({key: value})
        case "clear":
            names.clear()
        case "pop":
            names.pop(key, None)
        case "default":
            names.setdefault(key, value)
        case "get":
            names.get(key)
        case "in":
            assert (key in names) in (True, False)
        case "len" | "list" | "copy":
            assert len(names.copy()) == len(list(names))


@COUNTED
@given(st.lists(st.tuples(st.sampled_from(CHANGES + LOOKS), st.sampled_from("abc"), st.integers(0, 3))))
def test_a_version_tells_every_change_and_no_look(steps: list[tuple[str, str, int]]) -> None:
    names: dict[str, Any] = {"a": 0}
    version = process_baseline.dict_version(names)
    for what, key, value in steps:
        before, number = dict(names), version.value
        do(what, names, key, value)
        if names != before:
            assert version.value != number, (what, key, value)
        if what in LOOKS:
            assert version.value == number, what


@COUNTED
def test_what_nobody_has_touched_is_not_compared_and_what_is_touched_is_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[str] = []

    class Recorded(standard_library._ModuleSnapshot):
        def changed_names(self) -> list[str]:
            compared.append(self.name)
            return super().changed_names()

    monkeypatch.setattr(standard_library, "_ModuleSnapshot", Recorded)
    module = ModuleType("textwrap")
    vars(module)["used"] = used = len
    monkeypatch.setattr(standard_library.StandardLibrary, "_restore_modules", lambda *_: None)
    noted = standard_library.StandardLibrary(process_baseline.dict_version)
    noted.record("textwrap", module)
    changed: list[str] = []
    lost: list[str] = []
    noted.restore(changed, lost)
    assert compared == [], "the version says that nothing has changed"
    vars(module)["used"] = max
    noted.restore(changed, lost)
    assert vars(module)["used"] is used, "the version is another, so the values were compared"
    assert (compared, changed, lost) == (["textwrap"], ["textwrap.used"], [])
    noted.restore(changed, lost)
    assert compared == ["textwrap"]
