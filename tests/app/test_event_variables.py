"""`${NAME}` and `${now-2h}` in events: where values come from, what they become, what is never shown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.options import Options
from hookscope.app.project_config import environment_files, read_workspace_environment
from hookscope.app.variables import (
    HIDDEN,
    VariableReference,
    Variables,
    escaped_value,
    filled_value,
    references_in,
    secrets_used,
)
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.saved_events import read_saved_event, saved_listing
from hookscope.model.failure import Refusal

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MILLISECONDS = 1_772_366_400_000  # of that noon
KNOWN = Variables({"USER": "ada", "API_KEY": "a1b2c3"}, {"USER": ".env", "API_KEY": "--env"})
PIECES = st.sampled_from(["$", "{", "}", "X", "now", "-1h", ":ms", "${X}", "$${X}", "${now+1d:s}", "\n"])
TEXTS = st.text(max_size=6) | st.lists(PIECES, max_size=8).map("".join)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_escaped_values_are_filled_unchanged(value: Any) -> None:
    assert filled_value(escaped_value(value), Variables(), NOON) == value


@given(VALUES)
def test_filling_agrees_with_the_listed_references(value: Any) -> None:
    variables = Variables({"X": "${now}"}, {"X": "--env"})
    uses = references_in(value, variables, NOON)
    if any(use.problem for use in uses):
        with pytest.raises(Refusal):
            filled_value(value, variables, NOON)
    else:
        filled_value(value, variables, NOON)  # a variable's own `${now}` is text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${now}", "2026-03-01T12:00:00.000Z"),
        ("${now-2h}", "2026-03-01T10:00:00.000Z"),
        ("${now+1d:iso}", "2026-03-02T12:00:00.000Z"),
        ("${now-1h30m}", "2026-03-01T10:30:00.000Z"),
        ("${now-1d+90s}", "2026-02-28T12:01:30.000Z"),
        ("${now+1w}", "2026-03-08T12:00:00.000Z"),
        ("${now:ms}", MILLISECONDS),
        ("${now-90s:ms}", MILLISECONDS - 90_000),
        ("${now+250ms:ms}", MILLISECONDS + 250),
        ("${now:s}", MILLISECONDS // 1000),
        ("at ${now:s}", f"at {MILLISECONDS // 1000}"),
        ("${USER}@${USER}", "ada@ada"),
        ("$${USER} $${now}", "${USER} ${now}"),
        ("${a b} ${} $USER ${SECRET:USER}", "${a b} ${} $USER ${SECRET:USER}"),
    ],
)
def test_references_are_replaced(written: str, meant: object) -> None:
    assert filled_value({"at": [written]}, KNOWN, NOON) == {"at": [meant]}


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("${USR}", "events/a.yaml uses ${USR}, which is not set. Did you mean ${USER}? `--env USR=VALUE`"),
        ("${now-2x}", "uses ${now-2x}, which is not a time. Write times as ${now}"),
        ("${now-2}", "is not a time"),
        ("${now:date}", "is not a time"),
        ("${now-999999999w}", "is outside the years 1 to 9999"),
    ],
)
def test_unfillable_reference_is_refused_by_name(written: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        filled_value([written], KNOWN, NOON, "events/a.yaml")
    assert sentence in str(refused.value)


def test_listed_references_hide_secrets() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3
    variables = Variables({**KNOWN.values, "PLAIN": token}, {**KNOWN.origins, "PLAIN": "the environment"})
    value = {"a": "${USER} ${API_KEY}", "b": ["${now-2h}", "${PLAIN}", "${NONE}", "${USER} $${NOT}"]}
    shown = references_in(value, variables, NOON)
    assert shown[:3] == (
        VariableReference("USER", "ada", ".env"),
        VariableReference("API_KEY", HIDDEN, "--env", secret=True),
        VariableReference("now-2h", "2026-03-01T10:00:00.000Z", "the event's time"),
    )
    assert (shown[3].shown, shown[3].origin) == (HIDDEN, "the environment")
    assert "NONE" in shown[4].problem
    assert len(shown) == 5
    assert [secret.name for secret in secrets_used(value, variables)] == ["API_KEY", "PLAIN"]
    assert token not in repr(variables)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_closer_sources_override_variables(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(workspace / ".env", "A=dotenv\nB=dotenv\nC=dotenv\nD=dotenv\n")
    for name in "ABC":
        monkeypatch.setenv(name, "process")
    write(workspace / ".hookscope/environments/dev.yaml", "variables: {A: file, B: 2, YES: true}")
    bench = Workbench(Options(workspace=workspace, env={"A": "given"}, environment="dev"))
    variables = bench.filler.variables_of(bench.open())
    assert [(variables.values[name], variables.origins[name]) for name in "ABCD"] == [
        ("given", "--env"),
        ("2", "environment dev"),
        ("process", "the environment"),
        ("dotenv", ".env"),
    ]
    assert variables.values["YES"] == "true"
    assert variables.environment == "dev"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("variables: {A: [1]}", "dev.yaml, line 1: `A` must be a string, a number, true or false."),
        ("variables:\n  A: 1\n  A: 2\n", "dev.yaml, line 3, column 3: the key `A` appears twice."),
        ("variables: 5", "dev.yaml, line 1: `variables` needs a mapping."),
        ("\nvariable: {A: 1}", "line 2: `variable` is not part of an environment. Did you mean `variables`?"),
        ("- A", "is not an environment: it needs a mapping with `variables:`."),
    ],
)
def test_an_environment_that_is_wrong_is_refused_with_its_line(
    workspace: Path, text: str, sentence: str
) -> None:
    write(workspace / ".hookscope/environments/dev.yaml", text)
    with pytest.raises(Refusal) as refused:
        read_workspace_environment(workspace, "dev")
    assert sentence in str(refused.value)


def test_unknown_environment_suggests_the_closest_match(workspace: Path) -> None:
    with pytest.raises(Refusal, match=r"Create one as a file in"):
        read_workspace_environment(workspace, "ci")
    write(workspace / ".hookscope/environments/staging.yml", "{}")
    write(workspace / ".hookscope/environments/dev.yaml", "")
    (workspace / ".hookscope/environments/folder.yaml").mkdir()
    assert list(environment_files(workspace)) == ["dev", "staging"]
    assert read_workspace_environment(workspace, "staging").variables == {}
    with pytest.raises(Refusal, match="Did you mean staging"):
        read_workspace_environment(workspace, "stagin")
    with pytest.raises(Refusal, match="There is no environment"):
        read_workspace_environment(workspace, "../config")


def test_a_saved_event_is_filled_anew_at_each_fire(workspace: Path) -> None:
    file = write(
        workspace / "a.yaml",
        "event: command:new\nsession: 'chat:${USER}'\nat: ${now-1h}\n"
        "context: {since: '${now-1h:ms}', text: '$${USER}'}\n",
    )
    bench = Workbench(Options(workspace=workspace, env={"USER": "ada"}))
    event = read_saved_event(bench, bench.scan(), file)
    away = (datetime.now(UTC) - event.timestamp).total_seconds()
    assert 3600 <= away < 3660
    assert event.session_key == "chat:ada"
    since = round(event.timestamp.timestamp() * 1000) - 3_600_000  # `now` is the event's own moment
    assert abs(event.context["since"] - since) <= 1
    assert event.context["text"] == "${USER}"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("at: yesterday", "has `at: yesterday`, which is not a time"),
        ("at: [1]", "line 2: `at` must be a string."),
        ("tags: news", "line 2: `tags` needs a list of strings."),
        ("contxt: {}", "line 2: `contxt` is not part of an event. Did you mean `context`?"),
        ("context: 5", "line 2: `context` needs a mapping."),
        ("session: {}", "line 2: `session` must be a string."),
    ],
)
def test_a_saved_event_that_is_wrong_is_refused_with_its_line(
    workspace: Path, line: str, sentence: str
) -> None:
    file = write(workspace / "a.yaml", f"event: command:new\n{line}\n")
    bench = Workbench(Options(workspace=workspace))
    with pytest.raises(Refusal) as refused:
        read_saved_event(bench, bench.scan(), file)
    assert sentence in str(refused.value)


def test_listing_reports_invalid_saved_events(workspace: Path) -> None:
    events = workspace / ".hookscope/events"
    write(
        events / "b.yaml",
        "name: Ada says hello\ntags: [chat, ada]\nnotes: The first one.\nevent: command:new\nsession: main\n"
        "context: {who: '${NOBODY}'}\nexpect: {errors: 0}\n",
    )
    write(events / "deep/c.yml", "event: gateway:startup")
    write(events / "a.yaml", "event: [\n")
    write(events / "notes.txt", "no event")
    (events / "link.yaml").symlink_to("nowhere.yaml")
    broken, hello, deep = saved_listing(workspace)
    assert (hello.name, hello.key, hello.session, hello.tags) == (
        "Ada says hello",
        "command:new",
        "main",
        ("chat", "ada"),
    )
    assert hello.expects
    assert hello.notes == "The first one."
    assert (deep.name, deep.key, deep.expects) == ("c", "gateway:startup", False)
    assert (broken.name, broken.key) == ("a", "")
    assert "line 2" in broken.problem
    assert saved_listing(workspace / "nowhere") == ()
