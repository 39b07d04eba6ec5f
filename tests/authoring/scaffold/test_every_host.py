"""What is made passes lint, runs under its host and passes its own test, in every language and form."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from tests.authoring.scaffold.conftest import Bench, missed, new, tree

from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.linting import lint_hooks
from hookscope.authoring.scaffold.handler_code import GUARDED_EVENTS
from hookscope.authoring.scaffold.request import KIND_OF_SYSTEM, LANGUAGES, ScaffoldKind, ScaffoldRequest
from hookscope.authoring.scaffold.scaffold_writer import plan_new
from hookscope.authoring.testing.saved_events import read_saved_event
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import State

KINDS: tuple[ScaffoldKind, ...] = ("hook", "plugin", "stream")
WAITS_FOR_ITS_USER = {"trusted", "enabled", "switch", "selected"}
NO_SUCH_HANDLER = {("Milady", "hook", "javascript")}
SAYS_IT_IS_PYTHON = "handler-extension"


def switch_on(bench: Workbench, name: str) -> bool:
    view = bench.scan()
    off = bench.hook(view, name).state is State.OFF
    if off:
        bench.edits.apply(bench.edits.toggle(view, name, True))
    return off


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_new_hook_passes_lint_and_its_test_and_is_undone(
    dialect: str, bench: Bench, workspace: Path
) -> None:
    here, before = bench(dialect), tree(workspace)
    kinds = [kind for kind in KINDS if KIND_OF_SYSTEM[kind] in DIALECTS[dialect].kinds]
    made = []
    for kind, language in product(kinds, LANGUAGES):
        try:
            made.append(new(here, f"{kind}-{language}", kind=kind, language=language))
        except Refusal:  # see test_refusals.py
            assert (DIALECTS[dialect].product, kind, language) in NO_SUCH_HANDLER
    assert len(made) >= len(kinds) * 2
    for one in made:
        (stands,) = one.statuses
        assert stands.row is not None
        assert {gate.name for gate in stands.failed_gates} <= WAITS_FOR_ITS_USER - {"trusted"}, one.plan.root
        later = one.plan.kind == "stream" and one.plan.language != LANGUAGES[0]
        assert (one.trusted is None) == later  # the first module made the folder that all of them lie in

    report = lint_hooks(here).report
    assert not report.not_run
    assert {finding.rule for finding in report.findings} <= {SAYS_IT_IS_PYTHON}
    assert all(finding.place.file.suffix == ".py" for finding in report.findings)

    runs = bench(dialect, trust_all=True)
    switched = [one for one in made if switch_on(runs, one.plan.request.name)]
    assert not missed(runs, *made)

    for _ in range(len(made) + len(switched)):
        here.edits.undo(here.edits.pending_undo())
    assert tree(workspace) == before
    with pytest.raises(Refusal, match="nothing to undo"):
        here.edits.pending_undo()
    assert not here.open().trust.folders


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_new_hooks_saved_event_equals_the_fired_example(
    dialect: str, bench: Bench, workspace: Path
) -> None:
    """With every field of the example: what a handler finds when it is fired it finds in its test, too."""
    here = bench(dialect)
    view = here.scan()
    file = workspace / "saved.yaml"
    events = [one for one in view.host.dialect.catalogue().events if one.emitted and not one.family]
    assert events
    for one in events:
        kind = next(kind for kind in KINDS if KIND_OF_SYSTEM[kind] == one.kind)
        sketch = plan_new(here, view, ScaffoldRequest("mine", kind=kind, events=(one.key,)))
        file.write_bytes(dict(sketch.files)[sketch.saved_event or file])
        fired, saved = here.template(view, one.key), read_saved_event(here, view, file)
        if one.key == GUARDED_EVENTS:  # which has to be one that a guard stops
            assert saved.context.keys() == fired.context.keys()
            saved = replace(saved, context={**saved.context, "params": fired.context["params"]})
        told = (saved.key, saved.kind, saved.session_key, saved.context, saved.ctx)
        assert told == (fired.key, fired.kind, fired.session_key, fired.context, fired.ctx)


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_pack_is_a_workspace(dialect: str, language: str, bench: Bench, workspace: Path) -> None:
    here, before = bench(dialect), tree(workspace)
    made = new(here, "tools", kind="pack", language=language)
    assert made.plan.root == workspace / "tools"
    (stands,) = made.statuses
    assert stands.row is not None
    assert {gate.name for gate in stands.failed_gates} <= WAITS_FOR_ITS_USER
    inside = bench(dialect, workspace=workspace / "tools")
    findings = lint_hooks(inside).report.findings
    assert {finding.rule for finding in findings} <= {SAYS_IT_IS_PYTHON}
    assert '"hooks": [\n      "./hooks/tools"\n    ]' in (workspace / "tools/package.json").read_text()
    here.edits.undo(here.edits.pending_undo())
    assert tree(workspace) == before


def test_one_new_hook_can_serve_all_hosts_with_folders(bench: Bench, workspace: Path) -> None:
    names = [name for name, dialect in DIALECTS.items() if "folder" in dialect.kinds]
    made = new(bench(), "all", dialects=tuple(names), events=("command:new", "gateway:startup"))
    assert made.plan.language == "typescript"  # for some of them run no Python
    assert any("never sends command:new" in note for note in made.notes)
    assert [one.dialect for one in made.statuses] == names
    for one in made.statuses:
        assert one.row is not None
        heard = set(one.row.events or ())
        assert "gateway:startup" in heard
        assert {gate.name for gate in one.failed_gates} <= WAITS_FOR_ITS_USER


def test_a_new_hook_is_read_by_a_host_that_never_sends_its_event(bench: Bench) -> None:
    made = new(bench(), "both", dialects=("openclaw", "milady"), events=("message:received",))
    stands = {one.dialect: one.row.state for one in made.statuses if one.row is not None}
    assert stands == {"openclaw": State.READY, "milady": State.SILENT}
    assert not any(" fix " in command for command in made.next_commands)


def test_a_new_module_beside_foreign_ones_is_not_trusted(bench: Bench, workspace: Path) -> None:
    (workspace / "agent" / "hooks").mkdir(parents=True)
    made = new(bench("eve"), "late")
    assert made.trusted is None
    assert made.next_commands[0] == "hookscope trust agent/hooks"


def test_the_default_language_is_one_that_the_host_runs(bench: Bench) -> None:
    guide = new(bench("openclaw"), "first")
    assert guide.plan.language == "python"
    assert any("Python runs only in Hookscope" in note for note in guide.notes)
    shipped = new(bench("openclaw@2026.9"), "second")
    assert shipped.plan.language == "typescript"
    assert not shipped.notes
    assert shipped.next_commands[0].split()[-2:] == ["enable", "second"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_hook_can_subscribe_to_several_events_and_families(bench: Bench, language: str) -> None:
    here = bench("openclaw", trust_all=True)
    more = new(here, "more", language=language, events=("message:received", "command:new", "command:stop"))
    family = new(here, "family", language=language, events=("command",))
    both = new(
        here, "both", kind="plugin", language=language, events=("before_tool_call", "message_received")
    )
    assert not lint_hooks(here).report.findings
    assert not missed(here, more, family, both)


def test_a_new_module_can_subscribe_to_every_event(bench: Bench) -> None:
    here = bench("eve", trust_all=True)
    made = new(here, "every", language="python", events=("*", "session.started"))
    assert not missed(here, made)


@pytest.mark.parametrize(("dialect", "opens"), [("openclaw", "enable"), ("milady", "fix")])
def test_a_new_hook_that_is_off_names_the_command_that_enables_it(
    dialect: str, opens: str, bench: Bench, home: Path
) -> None:
    settings = home / f".{dialect}" / f"{dialect}.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"internal": {"enabled": false}}}')
    made = new(bench(dialect), "first")
    assert [gate.name for gate in made.statuses[0].failed_gates] == ["switch"]
    assert made.next_commands[0].split()[-2:] == [opens, "first"]
    assert len(made.next_commands) == 2
