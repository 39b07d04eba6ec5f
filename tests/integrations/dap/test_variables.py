"""Variables in an editor: their types, those of the module, new values, and names offered while typing."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.integrations.dap.editor import Editor, Message

HANDLERS = {
    "handler.py": """\
        GREETING = "hi"

        class Order:
            def __init__(self):
                self.number = 7

        def handler(event):
            count, order = 1, Order()
            held = {"inner": [1, 2]}
            held["total"] = count + held["inner"][0] + order.number
            event.messages.append(f"{GREETING} {held['total']}")
        """,
    "handler.ts": """\
        let GREETING: string = "hi";

        class Order {
          number = 7;
        }

        export default function handler(event: { messages: string[] }) {
          let count = 1, order = new Order();
          const held: Record<string, any> = { inner: [1, 2] };
          held.total = count + held.inner[0] + order.number;
          event.messages.push(`${GREETING} ${held.total}`);
        }
        """,
    "handler.cjs": """\
        let GREETING = "hi";

        class Order {
          constructor() { this.number = 7; }
        }

        module.exports = (event) => {
          let count = 1, order = new Order();
          const held = { inner: [1, 2] };
          held.total = count + held.inner[0] + order.number;
          event.messages.push(`${GREETING} ${held.total}`);
        };
        """,
}


@pytest.fixture(params=HANDLERS)
def file(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def stopped(editor: Editor, file: str, workspace: Path, make_hook: MakeHook) -> Message:
    """A handler that stands where its variables have values: line 10."""
    written = "handler.js" if file.endswith(".cjs") else file
    folder = make_hook(
        workspace / "hooks",
        "counts",
        '{openclaw: {events: ["command:new"]}}',
        textwrap.dedent(HANDLERS[file]),
        file=written,
    )
    editor.begin({folder / written: [10]}, event="command:new")
    return editor.stopped("breakpoint")


def test_variables_have_types_and_new_values_count(editor: Editor, file: str, stopped: Message) -> None:
    frame = editor.stack(stopped)[0]
    scopes = editor.scopes(frame)
    variables = editor.members(scopes["Variables"])
    in_python = file.endswith(".py")
    assert [variables[name]["type"] for name in ("count", "order", "held")] == (
        ["int", "Order", "dict"] if in_python else ["number", "Order", "Object"]
    )
    module = editor.members(scopes["Globals"])
    assert (module["GREETING"]["value"].strip("'\""), "count" in module) == ("hi", False)

    def put(holder: Message, name: str, value: str) -> str:
        reference = holder["variablesReference"]
        return str(editor.do("setVariable", variablesReference=reference, name=name, value=value)["value"])

    inner = editor.members(variables["held"])["'inner'" if in_python else "inner"]
    assert inner["evaluateName"] == ("held['inner']" if in_python else "held.inner")
    assert put(scopes["Variables"], "count", "count + 9") == "10"
    assert put(inner, "0", "100") == "100"
    assert put(variables["order"], "number", "1000") == "1000"
    assert put(scopes["Globals"], "GREETING", "'bye'").strip("'\"") == "bye"
    for name, value in (("count", "nobody"), ("nobody", "1")):
        reference = scopes["Variables"]["variablesReference"]
        assert "nobody" in editor.refused("setVariable", variablesReference=reference, name=name, value=value)
    editor.do("continue", threadId=stopped["threadId"])
    editor.event("terminated")
    assert "bye 1110" in "".join(shown["output"] for shown in editor.outputs)


def test_names_are_offered_while_typing(editor: Editor, file: str, stopped: Message) -> None:
    frame = editor.stack(stopped)[0]["id"]

    def offered(text: str) -> list[tuple[str, int, int]]:
        targets = editor.do("completions", text=text, column=len(text) + 1, frameId=frame)["targets"]
        return [(one["label"], one["start"], one["length"]) for one in targets]

    assert offered("1 + cou") == [("count", 5, 3)]
    assert offered("GREE") == [("GREETING", 1, 4)]
    assert offered("order.n") == [("number", 7, 1)]
    method = "keys" if file.endswith(".py") else "push"
    holder = "held" if file.endswith(".py") else "held.inner"
    assert (method, len(holder) + 2, 3) in offered(f"{holder}.{method[:3]}")
    assert offered("nobody.") == []
    assert editor.do("completions", text="order.number", column=3)["targets"][0]["label"] == "order"
