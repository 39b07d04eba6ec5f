"""Handlers that settings map to plugin hooks (OpenClaw's plugin guide, "Gateway Hooks")."""

from math import inf, nan
from typing import Any

import pytest
from tests.hosts.plugins.conftest import GUIDE, SHIPPED, Home

from hookscope.engine.discovery import discover
from hookscope.engine.planning import registrations_of
from hookscope.model.hook_status import State
from hookscope.model.run import Code

HANDLER = "def handler(event, ctx):\n    pass\n"


@pytest.fixture
def audit(place: Home) -> Home:
    place.write("workspace/audit.py", HANDLER)
    return place


def test_a_definition_becomes_a_registration(audit: Home) -> None:
    item = {"event": "message-sent", "file": "audit.py", "export": "log", "priority": 100, "name": "auditor"}
    audit.settings(plugins={"hooks": [item]})
    host = audit.host()
    inventory = discover(host)
    (standing,) = inventory.hooks
    hook = standing.hook
    assert (standing.state, hook.role, hook.description) == (
        State.READY,
        "mapped",
        "listed in plugins.hooks[0]",
    )
    (call,) = registrations_of(inventory, host)
    assert (call.key, call.name, call.priority) == ("message_sent", "auditor", 100)
    assert isinstance(call.target, Code)
    assert (call.target.shape, call.target.export) == ("arguments", "log")
    assert call.target.path == audit.workspace / "audit.py"


@pytest.mark.parametrize("dialect", [GUIDE, SHIPPED])
def test_the_projects_own_list_counts_under_every_dialect(audit: Home, dialect: str) -> None:
    inventory = discover(audit.host(dialect, {"event": "message_sent", "module": "audit"}))
    (standing,) = inventory.hooks
    assert (standing.hook.name, standing.state) == ("audit", State.READY)
    assert standing.hook.handler == audit.workspace / "audit.py"
    assert standing.hook.meta.events == ("message_sent",)


def test_a_closed_schema_refuses_the_key(audit: Home) -> None:
    audit.settings(plugins={"hooks": [{"event": "message_sent", "file": "audit.py"}]})
    inventory = discover(audit.host(SHIPPED))
    assert inventory.hooks == ()
    assert any('Unrecognized key: "hooks"' in problem.text for problem in inventory.problems)


WRONG: tuple[tuple[Any, str, int], ...] = (
    (3, "it must be {event, module or file}, not the number 3", 4),
    ({}, "it names no `event`", 4),
    ({"event": 3}, "`event` must be a string, not the number 3", 5),
    (
        {"event": "message-snt", "file": "audit.py"},
        "no plugin hook message-snt; did you mean message_sent?",
        5,
    ),
    ({"event": "command:new", "file": "audit.py"}, "no plugin hook command:new", 5),
    ({"event": "message_sent"}, "neither a `module` nor a `file`", 4),
    ({"event": "message_sent", "module": "a", "file": "b"}, "both a `module` and a `file`", 6),
    ({"event": "message_sent", "module": "../audit"}, "without `..`", 6),
    ({"event": "message_sent", "module": "/etc/audit"}, "must be a relative path", 6),
    ({"event": "message_sent", "module": ["audit"]}, "`module` must be a string", 6),
    ({"event": "message_sent", "file": "audit.py", "priority": "high"}, "`priority` must be a whole", 7),
    ({"event": "message_sent", "file": "audit.py", "priority": 1.5}, "`priority` must be a whole", 7),
    ({"event": "message_sent", "file": "audit.py", "priority": True}, "`priority` must be a whole", 7),
    ({"event": "message_sent", "file": "audit.py", "priority": inf}, "`priority` must be a whole", 7),
    ({"event": "message_sent", "file": "audit.py", "priority": nan}, "`priority` must be a whole", 7),
    ({"event": "message_sent", "file": "audit.py", "export": 3}, "`export` must be a string", 7),
)


@pytest.mark.parametrize(("item", "reason", "line"), WRONG)
def test_a_definition_that_is_none_says_why_and_where(audit: Home, item: Any, reason: str, line: int) -> None:
    audit.settings(plugins={"hooks": [item]})
    inventory = discover(audit.host())
    assert inventory.hooks == ()
    (rejected,) = inventory.rejected
    assert rejected.reason.startswith("plugins.hooks[0]: ")
    assert reason in rejected.reason
    assert rejected.place is not None
    assert rejected.place.line == line


@pytest.mark.parametrize("value", [3, "audit.py", {"event": "message_sent"}])
def test_what_is_no_list_is_a_problem(audit: Home, value: Any) -> None:
    audit.settings(plugins={"hooks": value})
    inventory = discover(audit.host())
    assert (inventory.hooks, inventory.rejected) == ((), ())
    assert [problem.text.split(" must be")[0] for problem in inventory.problems] == ["plugins.hooks"]


def test_a_missing_file_is_broken(place: Home) -> None:
    (standing,) = discover(place.host(GUIDE, {"event": "message_sent", "file": "gone.py"})).hooks
    file = place.workspace / "gone.py"
    assert [gate.reason for gate in standing.verdict.failed()] == [f"no such file: {file}"]
    assert standing.state is State.BROKEN


@pytest.mark.parametrize("by_link", [False, True])
def test_a_file_outside_is_broken_however_it_is_named(place: Home, by_link: bool) -> None:
    outside = place.folder / "outside.py"
    outside.write_text(HANDLER)
    if by_link:
        (place.workspace / "inside.py").symlink_to(outside)
    name = "inside.py" if by_link else str(outside)
    (standing,) = discover(place.host(GUIDE, {"event": "message_sent", "file": name})).hooks
    sentence = f"Handler path escapes the workspace and the state folder: {outside}"
    assert [gate.reason for gate in standing.verdict.failed()] == [sentence]


def test_mapped_handlers_need_trust(audit: Home) -> None:
    host = audit.host(GUIDE, {"event": "message_sent", "file": "audit.py"}, trusted=False)
    (standing,) = discover(host).hooks
    assert standing.state is State.UNTRUSTED


def test_they_compete_with_nobody_and_come_last(audit: Home) -> None:
    audit.plugin("plugins", "audit", id="audit")
    item = {"event": "message_sent", "file": "audit.py"}
    inventory = discover(audit.host(GUIDE, item, item))
    assert [(hook.name, hook.role) for hook in inventory.load_order] == [
        ("audit", ""),
        ("audit", "mapped"),
        ("audit", "mapped"),
    ]


def test_what_nobody_reads_is_noted(audit: Home) -> None:
    item = {"event": "message_sent", "file": "audit.py", "priorty": 1}
    (standing,) = discover(audit.host(GUIDE, item)).hooks
    assert standing.notes == ("plugin_hooks[0]: nothing reads `priorty`",)


@pytest.mark.parametrize(
    "lists", [{"allow": ["other"]}, {"deny": ["audit"]}, {"allow": ["other"], "deny": ["audit"]}]
)
def test_the_lists_of_allowed_and_denied_plugins_mean_no_mapped_handler(
    audit: Home, lists: dict[str, list[str]]
) -> None:
    audit.plugin("plugins", "audit", id="audit")
    audit.settings(plugins={"hooks": [{"event": "message_sent", "file": "audit.py"}], **lists})
    states = {(row.hook.role == "mapped"): row.state for row in discover(audit.host()).hooks}
    assert states == {True: State.READY, False: State.OFF}
