"""The keys that a handler had been given, as the patches of those before it tell them."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookscope.analysis.run_explanation import handler_input
from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Event
from hookscope.runtime.payloads import patch_of

KEYS = st.text(alphabet="ab/~é", max_size=3)
CONTEXTS = st.dictionaries(KEYS, st.one_of(st.integers(), st.dictionaries(KEYS, st.integers(), max_size=3)))
WANT = Failure("KeyError", "'senderID'")


@given(st.lists(CONTEXTS, min_size=1, max_size=4), st.sampled_from(["folder", "stream", "plugin"]))
def test_keys_include_the_changes_of_earlier_handlers(contexts: list[dict[str, Any]], kind: Any) -> None:
    name = {"folder": "context", "stream": "data", "plugin": ""}[kind]
    documents = [{name: context} if name else context for context in contexts]
    patches = [patch_of(before, after) for before, after in pairwise(documents)]
    event = replace(Event("command:new", context=contexts[0]), kind=kind)
    assert handler_input(event, patches, WANT).keys == tuple(sorted(contexts[-1]))


def test_closest_key_comes_from_the_error_or_the_failed_line() -> None:
    event = Event("command:new", context={"senderId": "dev", "channel": {"id": 1}})
    assert handler_input(event, (), WANT).closest_key == "senderId"
    line = Frame("handler.ts", 3, "handler", "const who = event.context.sender_id.trim();")
    of_nothing = Failure("TypeError", "Cannot read properties of undefined (reading 'trim')", (line,))
    assert handler_input(event, (), of_nothing).closest_key == "senderId"
    assert handler_input(event, (), Failure("KeyError", "'weather'")).closest_key == ""
