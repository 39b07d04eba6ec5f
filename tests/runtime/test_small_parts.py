"""Output, digests, faults, patches: the small parts that the lanes are made of."""

import ast
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookscope.model.hook_event
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Registration, Step
from hookscope.runtime import python_worker
from hookscope.runtime.batch import Batch, WorkerLost, seconds_in
from hookscope.runtime.failures import CANCELLED
from hookscope.runtime.handler_code import digest_of, module_from
from hookscope.runtime.limits import MIB, Limits
from hookscope.runtime.payloads import (
    MAX_OPERATIONS,
    apply_changes,
    document_of,
    is_same_json,
    messages_in,
    new_messages,
    patch_of,
)
from hookscope.runtime.python_worker.safe_values import describe_exception, safe_text
from hookscope.runtime.worker_process import exit_in_words
from hookscope.runtime.worker_reader import HEAD_SIZE, TAIL_SIZE, BoundedOutput

ALONE = [Path(hookscope.model.hook_event.__file__), *Path(python_worker.__file__).parent.glob("*.py")]


@pytest.mark.parametrize("file", ALONE, ids=lambda file: file.name)
def test_what_the_worker_loads_is_python_3_9_and_stands_alone(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    imported = {
        name.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert not [name for name in imported if name.startswith("hookscope")]


# Modules


@pytest.mark.parametrize(
    ("told", "priority"), [(2, 2), (-1.5, -1.5), (True, 0), (None, 0), ("9", 0), (float("inf"), 0)], ids=str
)
def test_a_priority_that_is_no_number_counts_as_none(told: object, priority: float) -> None:
    document = {"declares": [{"key": "k", "member": "m", "priority": told}], "log": []}
    (declared,) = module_from(document, lambda member: print).declares
    assert (type(declared.priority) is not bool, declared.priority) == (True, priority)


# Courses


@pytest.mark.parametrize("told", [True, "1", None, [1.0], {}], ids=str)
def test_what_is_no_duration_is_no_answer(told: object) -> None:
    with pytest.raises(WorkerLost, match="sent an invalid answer"):
        seconds_in({"took": told}, "took")


def test_a_duration_may_be_whole_and_may_be_left_out() -> None:
    assert (seconds_in({"took": 2}, "took"), seconds_in({}, "took", 0.5)) == (2.0, 0.5)


def test_a_call_that_was_lost_while_it_loaded_has_not_run() -> None:
    call, steps = Registration("command", "a", print), list[Step]()
    course = Batch((call,), HookEvent("command", "new"), steps.append)
    course.begin(call)
    assert course.result_without_answer("cancelled", CANCELLED).took == 0.0
    course.mark_started(0.25)
    assert course.result_without_answer("cancelled", CANCELLED).loaded == 0.25


# Output


@given(st.lists(st.binary(max_size=40_000), max_size=8))
def test_a_capture_keeps_the_beginning_and_the_end(portions: list[bytes]) -> None:
    capture, whole = BoundedOutput(), b"".join(portions)
    for portion in portions:
        capture.feed(portion)
    text, dropped = capture.take()
    assert dropped == max(0, len(whole) - HEAD_SIZE - TAIL_SIZE)
    if not dropped:
        assert text == whole.decode("utf-8", "replace")
    assert capture.take() == ("", 0)


def test_a_capture_says_how_much_it_left_out() -> None:
    capture = BoundedOutput()
    for letter in b"abc":
        capture.feed(bytes([letter]) * HEAD_SIZE)
    text, dropped = capture.take()
    assert text == "a" * HEAD_SIZE + f"\n… {dropped:,} bytes are left out here …\n" + "c" * TAIL_SIZE
    assert dropped == 2 * HEAD_SIZE - TAIL_SIZE


def test_an_exit_is_told_in_words() -> None:
    assert exit_in_words(3) == "exited with status 3"
    assert exit_in_words(-11) == "was killed by signal 11 (SIGSEGV)"
    assert exit_in_words(-35) == "was killed by signal 35"


# Digests


def in_pycache(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_text("")
    (folder / ".git").mkdir()
    (folder / ".git" / "index").write_text("")


def edited_within_the_same_second(folder: Path) -> None:
    status = (folder / "handler.py").stat()
    (folder / "handler.py").write_text("b")
    os.utime(folder / "handler.py", ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(folder: Path) -> None:
    (folder / "new").write_text("a")
    (folder / "new").rename(folder / "handler.py")


def added(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "util.py").write_text("")


def added_below(folder: Path) -> None:
    (folder / "deep" / "er" / "new.py").write_text("")


def removed_below(folder: Path) -> None:
    (folder / "deep" / "er" / "old.py").unlink()


@pytest.mark.parametrize("settled", [False, True], ids=["just written", "written long ago"])
@pytest.mark.parametrize(
    "change", [edited_within_the_same_second, replaced, added, added_below, removed_below]
)
def test_a_change_in_the_folder_is_another_digest(
    tmp_path: Path, change: Callable[[Path], None], settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "handler.py").write_text("a")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "old.py").write_text("")
    if settled:  # then its last look is remembered
        for folder in (tmp_path, tmp_path / "deep", tmp_path / "deep" / "er"):
            os.utime(folder, (0, 0))
        monkeypatch.setattr("hookscope.runtime.handler_code.time_ns", lambda: 2**62)
    before = digest_of(tmp_path)
    assert digest_of(tmp_path) == before
    change(tmp_path)
    after = digest_of(tmp_path)
    assert after != before
    assert digest_of(tmp_path) == after


def test_caches_and_dot_folders_do_not_count(tmp_path: Path) -> None:
    before = digest_of(tmp_path)
    in_pycache(tmp_path)
    assert digest_of(tmp_path) == before


def test_a_folder_that_is_not_there_has_a_digest(tmp_path: Path) -> None:
    assert digest_of(tmp_path / "missing")


# Faults


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit

    def __repr__(self) -> str:
        raise KeyboardInterrupt


def caught(function: Callable[[], object]) -> dict[str, Any]:
    try:
        function()
    except BaseException as error:
        return describe_exception(error)
    raise AssertionError


def deep() -> None:
    deep()


def test_an_exception_whose_text_raises_is_named_by_its_type() -> None:
    assert safe_text(Unspeakable()) == "<Unspeakable whose text cannot be read>"


def test_a_runaway_recursion_has_its_last_forty_frames() -> None:
    fault = caught(deep)
    assert fault["type"] == "RecursionError"
    assert len(fault["frames"]) == 40
    assert fault["frames"][-1]["source"] == "deep()"


def test_a_syntax_error_has_its_place() -> None:
    fault = caught(lambda: compile("a\nb c\n", "/x/handler.py", "exec"))
    place = {"file": "/x/handler.py", "line": 2, "function": "", "source": "b c", "column": 3}
    assert fault["frames"][-1] == place


def test_a_cause_is_told_and_a_long_text_is_cut() -> None:
    def fails() -> None:
        raise ValueError("x" * 50_000_000) from KeyError("why")

    fault = caught(fails)
    assert fault["message"].endswith("characters omitted) (caused by KeyError: 'why')")
    assert len(fault["message"]) < 20_000


# Views

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b/c", "~"]) | st.just(1.0),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "/", "~0"]), inner),
    max_leaves=12,
)


@given(documents, documents)
def test_a_patch_leads_from_one_document_to_the_other(before: Any, after: Any) -> None:
    patch = patch_of({"context": before}, {"context": after})
    changed = jsonpatch.JsonPatch.from_string(json.dumps(patch)).apply({"context": before})
    assert is_same_json(changed, {"context": after})
    assert bool(patch) is not is_same_json(before, after)


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        (["a"], ["a", "b"], [("add", "/1")]),
        (["a", "b", "c"], ["a", "c"], [("remove", "/1")]),
        (["a", "b", "c"], ["a", "x", "c"], [("replace", "/1")]),
        (["b"], ["a", "b"], [("add", "/0")]),
        ({"a/b": 1}, {"a/b": True}, [("replace", "/a~1b")]),
    ],
)
def test_a_patch_says_the_least(before: Any, after: Any, patch: list[tuple[str, str]]) -> None:
    assert [(change["op"], change["path"]) for change in patch_of(before, after)] == patch


def test_a_patch_of_very_many_changes_names_whole_members() -> None:
    before = {"context": {"items": list(range(100_000))}, "messages": []}
    after = {"context": {"items": list(range(100_000, 0, -1))}, "messages": []}
    (change,) = patch_of(before, after)
    assert (change["op"], change["path"]) == ("replace", "/context")
    assert len(patch_of([1] * MAX_OPERATIONS, [2] * MAX_OPERATIONS)) == MAX_OPERATIONS


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ((), ("a",), ("a",)),
        (("a",), ("a", "a"), ("a",)),
        (("a", "b"), ("b", "c"), ("c",)),
        (("a",), ("a",), ()),
        (("a",), (), ()),
        (("a", "a"), ("x", "a"), ("x",)),
    ],
)
def test_pushed_is_what_is_new(before: tuple[str, ...], after: tuple[str, ...], new: tuple[str, ...]) -> None:
    assert new_messages(before, after) == new


def test_a_message_that_is_no_text_is_shown_as_hosts_join_it() -> None:
    event = HookEvent("command", "new")
    event.messages.extend([1, None, "a", {"role": "x"}, [1, None, "b", True]])  # type: ignore[list-item]
    assert messages_in(event) == ("1", "", "a", "[object Object]", "1,,b,true")


def test_writing_back_touches_only_what_changed() -> None:
    messages: list[str] = []
    kept = object()
    event = HookEvent("command", "new", "s", {"kept": kept, "gone": 1, "changed": 1}, messages=messages)
    before, _ = document_of(event)
    after = {**before, "messages": ["hi"], "context": {"kept": before["context"]["kept"], "changed": True}}
    apply_changes(event, before, after, patch_of(before, after))
    assert event.context == {"kept": kept, "changed": True}
    assert event.messages is messages
    assert messages == ["hi"]


def test_what_is_written_back_and_what_is_reported_are_two_things() -> None:
    event = HookEvent("command", "new")
    before, _ = document_of(event)
    after = {**before, "context": {"list": [1]}}
    apply_changes(event, before, after, patch_of(before, after))
    event.context["list"].append(2)
    assert after["context"] == {"list": [1]}


def test_who_goes_through_handlers_by_hand_waits_for_a_slow_start_too() -> None:
    limits = Limits(run=7.0, memory=MIB).without_time()
    assert (limits.spawn, limits.load, limits.run, limits.warn) == (None, None, None, None)
    assert limits.memory == MIB
