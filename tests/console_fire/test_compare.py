"""What is said of two runs of one event."""

from pathlib import Path

from hookscope.console.fire.beside import lines_of, table
from hookscope.console.fire.compare import compared
from hookscope.core.differences import Difference
from hookscope.core.runs import Code, Ending, Event, Registration, Result, Run, Status

CALLS = {
    name: Registration("command:new", name, Code(Path(name), "default", Path("/"), "python"))
    for name in ("a", "b", "c", "d", "e")
}


def run(
    *results: tuple[str, Status], messages: tuple[str, ...] = (), context: dict[str, object] | None = None
) -> Run:
    made = tuple(Result(CALLS[name], status, took=0.01) for name, status in results)
    return Run(1, Event("command", "new"), made, (), Ending(), messages, context or {})


def test_the_same_is_said_to_be_as_before() -> None:
    assert compared(run(("a", "ok")), run(("a", "ok"))) == "as before · 10.0 ms → 10.0 ms"


def test_outcomes_messages_and_context_that_changed_are_named() -> None:
    before, after = (
        run(("a", "error"), ("b", "ok")),
        run(("a", "ok"), ("c", "ok"), messages=("hi",), context={"x": 1}),
    )
    said = "a ✗ → ✓ · c new ✓ · b did not run · +1 message · context differs · 20.0 ms → 20.0 ms"
    assert compared(before, after) == said


def test_fewer_and_other_messages_are_told_apart() -> None:
    assert "-2 messages" in compared(run(messages=("x", "y")), run())
    assert "other messages" in compared(run(messages=("x",)), run(messages=("y",)))


def test_many_changes_are_counted() -> None:
    names = ("a", "b", "c", "d", "e")
    before = run(*((name, "ok") for name in names))
    after = run(*((name, "timeout") for name in names))
    assert compared(before, after).startswith("a ✓ → ◷ · b ✓ → ◷ · c ✓ → ◷ · 2 more")


def test_a_hook_that_is_called_twice_is_compared_call_by_call() -> None:
    assert "a ✓ → ✗" in compared(run(("a", "ok"), ("a", "ok")), run(("a", "ok"), ("a", "error")))


def test_side_by_side_an_end_has_its_own_colour_and_a_file_its_name_for_people() -> None:
    found = (
        Difference("handler", "greet", "error: KeyError: 'ok'", "ok"),
        Difference("file", "/home/ada/.openclaw/logs/commands.log", None, {"kind": "new", "bytes": 9}),
    )
    lines = lines_of(found, run(), run(), lambda path: str(path).replace("/home/ada", "~"))
    shown = table(lines, (1, 2), 74)
    heading, *rows = shown.plain.splitlines()
    names = "".join(line[: heading.index("run 1")].strip() for line in rows)
    assert "~/.openclaw/logs/commands.log" in names  # folded, not cut
    colours = {shown.plain[span.start : span.end].strip(): span.style for span in shown.spans}
    assert (colours["error: KeyError: 'ok'"], colours["ok"]) == ("$text-error", "$text-success")
    assert "new, 9 bytes" not in colours  # what is told has no colour that says good or bad
