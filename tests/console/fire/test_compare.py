"""What is said of two runs of one event."""

from pathlib import Path

from hookscope.console.dialogs.run_comparison import compared_lines, comparison_table
from hookscope.console.panes.fire.run_lines import comparison_summary
from hookscope.model.run import Code, Ending, Event, Registration, Result, Run, Status
from hookscope.model.run_comparison import RunDifference

CALLS = {
    name: Registration("command:new", name, Code(Path(name), "default", Path("/"), "python"))
    for name in ("a", "b", "c", "d", "e")
}


def run(
    *results: tuple[str, Status], messages: tuple[str, ...] = (), context: dict[str, object] | None = None
) -> Run:
    made = tuple(Result(CALLS[name], status, took=0.01) for name, status in results)
    return Run(1, Event("command", "new"), made, (), Ending(), messages, context or {})


def test_equal_runs_are_reported_as_unchanged() -> None:
    assert comparison_summary(run(("a", "ok")), run(("a", "ok"))) == "as before · 10.0 ms"


def test_changed_outcomes_messages_and_context_are_named() -> None:
    before, after = (
        run(("a", "error"), ("b", "ok")),
        run(("a", "ok"), ("c", "ok"), messages=("hi",), context={"x": 1}),
    )
    said = "a ✗ → ✓ · c new ✓ · b did not run · +1 message · context differs · 20.0 ms"
    assert comparison_summary(before, after) == said


def test_fewer_messages_are_distinguished_from_changed_ones() -> None:
    assert "-2 messages" in comparison_summary(run(messages=("x", "y")), run())
    assert "different messages" in comparison_summary(run(messages=("x",)), run(messages=("y",)))


def test_many_changes_are_counted_and_not_listed() -> None:
    names = ("a", "b", "c", "d", "e")
    before = run(*((name, "ok") for name in names))
    after = run(*((name, "timeout") for name in names))
    assert comparison_summary(before, after).startswith("a ✓ → ◷ · b ✓ → ◷ · c ✓ → ◷ · 2 more")


def test_a_hook_that_is_called_twice_is_compared_call_by_call() -> None:
    assert "a ✓ → ✗" in comparison_summary(run(("a", "ok"), ("a", "ok")), run(("a", "ok"), ("a", "error")))


def test_side_by_side_runs_show_coloured_outcomes_and_short_file_names() -> None:
    found = (
        RunDifference("handler", "greet", "error: KeyError: 'ok'", "ok"),
        RunDifference("file", "/home/ada/.openclaw/logs/commands.log", None, {"kind": "new", "bytes": 9}),
    )
    lines = compared_lines(found, run(), run(), lambda path: str(path).replace("/home/ada", "~"))
    shown = comparison_table(lines, (1, 2), 74)
    heading, *rows = shown.plain.splitlines()
    names = "".join(line[: heading.index("run 1")].strip() for line in rows)
    assert "~/.openclaw/logs/commands.log" in names  # folded, not cut
    colours = {shown.plain[span.start : span.end].strip(): span.style for span in shown.spans}
    assert (colours["error: KeyError: 'ok'"], colours["ok"]) == ("$text-error", "$text-success")
    assert "new, 9 bytes" not in colours  # what is told has no colour that says good or bad
