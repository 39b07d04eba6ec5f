"""What authors write with, and what their handlers get."""

import ast
import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookscope
from hookscope.model import authoring_api
from hookscope.model import handler_arguments as for_handlers
from hookscope.model.authoring_api import (
    Declaration,
    RecordingPluginApi,
    define_connection,
    define_tool,
    forget_names,
    name_definition,
    tool_result_from,
)
from hookscope.model.handler_arguments import HookContext, HostRequests, Record, adapted, closed, opened
from hookscope.model.payload import make_arguments

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(), PLAIN, max_size=5)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,6}){0,3}", fullmatch=True).filter(
    lambda name: not hasattr(dict, name)
)


def dicts_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside:
        yield from dicts_in(item)


@given(OBJECTS)
def test_a_record_is_the_dict_it_was_made_of(document: dict[str, Any]) -> None:
    record = Record(document)
    assert record == document
    assert json.loads(json.dumps(record)) == json.loads(json.dumps(document))
    assert all(type(item) is Record for item in dicts_in(record))


@given(OBJECTS)
def test_copies_of_a_record_are_records_of_their_own(document: dict[str, Any]) -> None:
    record = Record(document)
    for made in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert made == record
        assert type(made) is Record
        made["another"] = 1
        assert record == document
    assert type(record.copy()) is type(copy.copy(record)) is Record


@given(OBJECTS)
def test_making_a_record_leaves_what_it_is_made_of_alone(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    record = Record(document)
    for item in list(dicts_in(record)):
        item["changed"] = True
    assert document == before


@given(NAMES, PLAIN)
def test_a_key_is_an_attribute_in_both_spellings(name: str, value: Any) -> None:
    first, *rest = name.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    for key in (name, camel):
        record = Record({key: value})
        assert getattr(record, name) == value
        setattr(record, name, 1)
        assert record == {key: 1}
        delattr(record, name)
        assert record == {}
        with pytest.raises(AttributeError, match="there is no"):
            getattr(record, name)


def test_what_a_handler_puts_into_a_record_stays_its_own_and_reads_alike() -> None:
    record = Record(data={})
    params: dict[str, Any] = {}
    record.data["params"] = params
    params["deepKey"] = [{"innerKey": 1}]
    kept = record.data.params.deep_key
    assert kept[0].inner_key == 1
    kept.append({"innerKey": 2})
    assert [item.inner_key for item in record.data.params.deep_key] == [1, 2]


def test_what_a_dict_can_do_comes_before_its_keys() -> None:
    record = Record({"items": 1, "__deepcopy__": 2, "keys": 3})
    assert sorted(record.items()) == [("__deepcopy__", 2), ("items", 1), ("keys", 3)]
    assert copy.deepcopy(record) == record


def test_a_context_travels_as_its_plain_members() -> None:
    context = HookContext({"agent": {"name": "a"}}, {"cancel": print})
    assert callable(context.cancel)
    assert json.loads(json.dumps(context)) == {"agent": {"name": "a"}}
    for made in (copy.deepcopy(context), pickle.loads(pickle.dumps(context))):
        assert (made, type(made)) == ({"agent": {"name": "a"}}, Record)


def test_asking_is_heard_while_the_handlers_of_a_view_run() -> None:
    view = make_arguments({}, {}, methods=["cancel"])
    late: list[tuple[str, str]] = []
    kept: list[Any] = []
    call = adapted(lambda event, ctx: kept.append(ctx))
    opened(view).who = "one"
    call(view)
    opened(view).who = "two"
    call(view)
    kept[0].cancel()
    closed(view, lambda *news: late.append(news))
    kept[0].cancel()
    kept[1].cancel()
    assert view["asked"] == ["cancel"]
    assert late == [("one", for_handlers.LATE_CANCEL), ("two", for_handlers.LATE_CANCEL)]
    assert isinstance(opened(view), HostRequests)
    kept[1].cancel()
    assert view["asked"] == ["cancel", "cancel"]


@pytest.fixture
def world() -> Iterator[str]:
    yield "a world of the tests"
    forget_names("a world of the tests")


RESULT = {"kind": "tool-result", "toolName": "add", "callId": "c", "output": 5}


def test_identity_decides_and_not_the_name(world: str) -> None:
    tool, twin = define_tool(description="adds"), define_tool(description="adds")
    name_definition(tool, "tool", "add", world)
    assert tool_result_from(RESULT, tool) == {"callId": "c", "output": 5, "toolName": "add"}
    assert tool_result_from(RESULT, twin) is None
    assert tool_result_from(RESULT, "add") is None
    assert tool_result_from(None, tool) is None
    forget_names(world)
    assert tool_result_from(RESULT, tool) is None


def test_an_object_of_two_names_matches_nothing_and_that_is_said(world: str) -> None:
    both = define_tool()
    for name in ("add", "sum"):
        name_definition(both, "tool", name, world)
    with pytest.warns(
        UserWarning, match=r"^add, sum share one definition object, so it matches no tool result$"
    ):
        assert tool_result_from(RESULT, both) is None


def test_a_connection_matches_all_its_tools(world: str) -> None:
    linear = define_connection({"url": "x"})
    name_definition(linear, "connection", "linear", world)
    found = tool_result_from({**RESULT, "toolName": "linear__list"}, linear)
    assert found is not None
    assert (found.tool_name, found.connection_tool_name) == ("linear__list", "list")
    for other in ("linear", "linear_list", "other__list"):
        assert tool_result_from({**RESULT, "toolName": other}, linear) is None


def test_definitions_are_what_was_written_and_equal_to_themselves_only() -> None:
    def execute() -> None: ...

    tool = define_tool({"description": "d"}, execute=execute)
    assert (dict(tool), tool.kind) == ({"description": "d", "execute": execute}, "tool")
    assert tool.execute is execute
    assert tool == tool
    assert tool != define_tool(tool)
    assert len({tool, define_tool(tool)}) == 2
    with pytest.raises(TypeError, match=r"^define_tool\(\) takes keyword arguments, or one mapping$"):
        define_tool("d")  # type: ignore[arg-type]


def test_registrations_are_noted_and_told_in_order() -> None:
    told: list[Declaration] = []
    api = RecordingPluginApi("my-plugin", {"maxItems": 3}, told=told.append)

    @api.on("before_tool_call", priority=3, timeout_ms=1500)
    def guard(event: Any) -> None: ...

    api.register_hook({"event": "message-sent", "handler": guard, "priority": 1.0, "matcher": "x"})
    api.registerHook(event="session_end", handler=guard, timeoutMs=0)
    assert (
        api.declared
        == told
        == [
            ("before_tool_call", guard, 3, 1.5, {}),
            ("message-sent", guard, 1, None, {"matcher": "x"}),
            ("session_end", guard, 0, 0.0, {}),
        ]
    )
    assert (api.id, api.plugin_config.max_items, api.logger.name) == ("my-plugin", 3, "plugin.my-plugin")
    assert not api.runtime.anything("at", all=True)


STANDS_ALONE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("alone", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
assert module.Record(a=1).a == 1
assert not [name for name in sys.modules if name.startswith("hookscope")]
"""


def test_the_files_keep_to_the_syntax_of_python_3_9_and_the_first_stands_alone() -> None:
    files = [Path(str(module.__file__)) for module in (for_handlers, authoring_api)]
    for file in files:
        ast.parse(file.read_text(), feature_version=(3, 9))
    subprocess.run([sys.executable, "-I", "-c", STANDS_ALONE, files[0]], check=True)


def test_the_package_gives_what_authors_need() -> None:
    for name in ("define_hook", "define_tool", "define_agent", "mock_model", "tool_result_from"):
        assert getattr(hookscope, name) is getattr(authoring_api, name)


@pytest.mark.parametrize(
    ("handler", "got"),
    [
        (lambda: (), 0),
        (lambda event: (event,), 1),
        (lambda event, ctx: (event, ctx), 2),
        (lambda event, ctx=None: (event, ctx), 2),
        (lambda event, _=None: (event, _), 2),
        (lambda event, name="bound": (event,) if name == "bound" else (event, name), 1),
        (lambda *both: both, 2),
        (lambda event, *, ctx=None: (event,) if ctx is None else (event, ctx), 1),
    ],
)
def test_a_handler_gets_as_many_arguments_as_it_asks_for(handler: Any, got: int) -> None:
    returned: Any = adapted(handler)(make_arguments({"a": 1}, {"session": {"id": "s"}}))
    assert len(returned) == got
