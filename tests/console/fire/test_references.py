"""Variables in a draft: what they come to, and where the one stands that is not set."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.snapshot import Snapshot
from hookscope.app.variables import Variables, VariableSources, escaped_value
from hookscope.console.panes.fire.event_draft import EventDraft, check_draft, readable_json, variable_help

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KNOWN = Variables(
    {"USER": "ada", "API_TOKEN": "sk-live-0123456789abcdef", "NOTHING": ""},
    {"USER": ".env", "API_TOKEN": "--env", "NOTHING": ".env"},
)
FILLING = VariableSources(KNOWN, ("ci", "dev"), "dev")


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        ("${USER}", "${USER}: ada · from .env"),
        ("${API_TOKEN}", "${API_TOKEN}: •••• · from --env"),
        ("${NOTHING}", "${NOTHING}: empty · from .env"),
        ("${now-2h}", "${now-2h}: 2026-03-01T10:00:00.000Z · from the event's time"),
        ("${USR}", "${USR}: is not set; did you mean ${USER}?"),
        ("${now-2}", "${now-2}: is not a time; example: ${now-1h30m}"),
        ("$${USER}", "$${USER}: the literal text ${USER}"),
        ("${SECRET:X}", ""),
        ("${", ""),
    ],
)
def test_the_variable_under_the_cursor_has_a_help_text(text: str, help_: str) -> None:
    line = f'  "a": "see {text}", "b": 1'
    assert variable_help(line, line.index(text) + 1, KNOWN, NOON) == help_
    assert variable_help(line, 0, KNOWN, NOON) == variable_help(line, len(line), KNOWN, NOON) == ""


@given(st.text(max_size=20), st.integers(-5, 30))
def test_variable_help_accepts_any_text(text: str, at: int) -> None:
    variable_help(text, at, KNOWN, NOON)


@pytest.mark.parametrize(
    ("text", "problem", "line", "column"),
    [
        ('{\n  "a": "$${USR} and ${USR}"\n}', "${USR} is not set; did you mean ${USER}?", 2, 21),
        ('{"${USR}": 1, "a": ["${now+}"]}', "${now+} is not a time; example: ${now-1h30m}", 1, 22),
        ('{"a": "$\\u007bUSR}"}', "${USR} is not set; did you mean ${USER}?", 0, 0),
    ],
)
def test_an_unset_variable_is_an_error_with_line_and_column(
    view: Snapshot, text: str, problem: str, line: int, column: int
) -> None:
    checked = check_draft(EventDraft("command:new", text=text), view, FILLING)
    assert (checked.event, checked.problem, checked.line, checked.column) == (None, problem, line, column)
    assert (
        check_draft(EventDraft("command:new", text=text), view).event is not None
    )  # while nothing is known yet


def test_errors_in_session_and_environment_are_reported(view: Snapshot) -> None:
    assert check_draft(EventDraft("command:new", "${USR}"), view, FILLING).problem.startswith(
        "the session: ${USR} is"
    )
    unread = VariableSources(KNOWN, problem="dev.yaml, line 2: no.")
    assert check_draft(EventDraft("command:new"), view, unread).problem == "dev.yaml, line 2: no."


def test_the_filled_event_is_checked_and_the_written_one_is_kept(view: Snapshot) -> None:
    text = '{"sessionId": "${USER}", "timestamp": "${now:ms}"}'
    checked = check_draft(EventDraft("message:received", "s-${USER}", text), view, FILLING)
    assert checked.event is not None
    assert checked.event.context == {"sessionId": "${USER}", "timestamp": "${now:ms}"}
    assert checked.event.session_key == "s-${USER}"
    assert not any(noted.field == "timestamp" for noted in checked.notes)  # a number by then


@given(st.dictionaries(st.text(max_size=5), st.sampled_from(["${A}", "$${A}", "$", "${now}"]), max_size=3))
def test_settings_are_not_treated_as_variables(settings: dict[str, str]) -> None:
    event = check_draft(EventDraft("command:new", cfg=settings), None, VariableSources()).event
    assert event is not None
    assert event.context["cfg"] == escaped_value(settings)
    assert (
        check_draft(
            EventDraft("command:new", text=readable_json(escaped_value(settings))), None, VariableSources()
        ).event
        is not None
    )
