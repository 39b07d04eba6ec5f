"""Which modules of a project are hooks, whose they are, and what stops the build."""

import errno
import os
from pathlib import Path

import pytest
from tests.hosts.streams.conftest import DIALECTS_OF_STREAMS, OpenProject, Project

from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.engine.planning import make_plan, registrations_of
from hookscope.engine.registry import Registry
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.failure import Failure
from hookscope.model.hook_status import State
from hookscope.model.machine import FolderItem, RealFiles
from hookscope.model.run import Event
from hookscope.model.trust import trust_target

RULE = (
    "Expected ASCII letters, digits, underscores, and dashes only, "
    "starting with a letter, up to 64 characters."
)
COLLISION = 'discover/module-slot-collision: Found multiple authored module sources for "hooks/a": '
ILLEGAL = 'discover/hook-name-invalid: Hook path segment "{name}" is not a legal hook name. ' + RULE


@pytest.mark.parametrize(
    ("dialect", "file", "hooks", "reason"),
    [
        ("eve@0.80", "a.ts", ["a"], ""),
        ("eve@0.80", "a.cjs", ["a"], ""),
        ("eve@0.80", "deep/er/a.mts", ["deep/er/a"], ""),
        ("eve@0.80", "a.py", ["a"], ""),
        ("eve@0.80", "notes.md", [], "ignored: .md is not a module"),
        ("eve@0.80", "LICENSE", [], "ignored: LICENSE is not a module"),
        ("eve@0.80", "a.tsx", [], "ignored: .tsx is not a module"),
        ("eve@0.80", "a.d.ts", [], "ignored: a.d.ts is a declaration"),
        ("eve@0.80", "a.spec.mjs", [], "ignored: a.spec.mjs contains tests"),
        ("eve@0.80", "__tests__/a.ts", [], "ignored: __tests__ contains tests"),
        ("eve", "a.test.ts", [], "ignored: a.test.ts contains tests"),
        ("eve@0.18", "notes.md", [], "ignored: .md is not a module"),
    ],
)
def test_a_file_is_a_hook_or_is_passed_over(
    project: Project, opened: OpenProject, dialect: str, file: str, hooks: list[str], reason: str
) -> None:
    project(f"agent/hooks/{file}")
    inventory = discover(opened(dialect))
    assert [hook.name for hook in inventory.load_order] == hooks
    assert [(item.reason, item.ignored) for item in inventory.rejected] == (
        [(reason, True)] if reason else []
    )
    assert inventory.problems == ()


@pytest.mark.parametrize(
    ("dialect", "file", "name"),
    [
        ("eve@0.80", "1st.ts", "1st"),
        ("eve", "two.dots.ts", "two.dots"),
        ("eve@0.80", "9folder/inner.ts", "9folder"),
        ("eve@0.18", "__tests__/a.ts", "__tests__"),
        ("eve@0.18", "a.test.ts", "a.test"),
        ("eve@0.18", "a.d.ts", "a.d"),
    ],
)
def test_an_illegal_name_stops_the_whole_build(
    project: Project, opened: OpenProject, dialect: str, file: str, name: str
) -> None:
    root = project(f"agent/hooks/{file}", "agent/hooks/good.ts", "agent/subagents/s/hooks/other.ts")
    inventory = discover(opened(dialect))
    (problem,) = inventory.problems
    assert problem.text == ILLEGAL.format(name=name)
    assert problem.place is not None
    assert problem.place.file == root / "agent/hooks" / file.partition("/")[0]
    assert {row.hook.name: row.state for row in inventory.hooks} == {
        "good": State.BROKEN,
        "other": State.BROKEN,
    }
    assert {row.verdict.why() for row in inventory.hooks} == {f"Eve cannot build the project: {problem.text}"}


def test_two_modules_of_one_slug_are_both_left_out_and_a_folder_of_that_name_is_not(
    project: Project, opened: OpenProject
) -> None:
    project("agent/hooks/b.ts", "agent/hooks/b/inner.ts", "agent/hooks/a.js", "agent/hooks/a.ts")
    inventory = discover(opened())
    assert [hook.name for hook in inventory.load_order] == ["b/inner", "b"]
    assert [problem.text for problem in inventory.problems] == [COLLISION + '"a.js", "a.ts".']
    assert {item.path.name for item in inventory.rejected} == {"a.js", "a.ts"}


@pytest.mark.parametrize("dialect", DIALECTS_OF_STREAMS)
def test_python_modules_are_hookscopes_own_and_stop_no_build(
    project: Project, opened: OpenProject, dialect: str
) -> None:
    project(*(f"agent/hooks/{name}" for name in ("a.py", "a.ts", "b.py", "__init__.py")))
    inventory = discover(opened(dialect))
    shipped = dialect != "eve"
    assert [(hook.name, hook.beyond_host) for hook in inventory.load_order] == [("a", False), ("b", shipped)]
    assert inventory.problems == ()
    reasons = {item.path.name: item.reason for item in inventory.rejected}
    assert reasons["a.py"] == "a.ts beside it takes precedence: the same slug"
    assert "__init__" in reasons["__init__.py"]


def test_the_first_of_several_errors_is_what_every_row_names(project: Project, opened: OpenProject) -> None:
    project("agent/tools/2nd.ts", "agent/hooks/1st.ts", "agent/hooks/a.ts", "agent/channels/Loud.ts")
    inventory = discover(opened())
    codes = [problem.text.partition(":")[0] for problem in inventory.problems]
    assert codes == [f"discover/{name}-name-invalid" for name in ("channel", "tool", "hook")]
    (row,) = inventory.hooks
    assert row.hook.build is inventory.problems[0]


def test_a_link_is_no_module_and_a_file_or_dead_link_in_place_of_the_folder_is_an_error(
    project: Project, opened: OpenProject
) -> None:
    root = project("agent/hooks/a.ts", "agent/subagents/s/hooks")
    (root / "agent/tools").symlink_to(root / "nowhere")
    (root / "agent/hooks/b.ts").symlink_to("a.ts")
    (root / "agent/hooks/more").symlink_to(root)
    inventory = discover(opened())
    assert [hook.name for hook in inventory.load_order] == ["a"]
    assert [item.reason for item in inventory.rejected] == [
        "ignored: b.ts is a link",
        "ignored: more is a link",
    ]
    place = root / "agent/subagents/s/hooks"
    assert [problem.text for problem in inventory.problems] == [
        f'discover/tools-directory-invalid: Expected "{root / "agent/tools"}" to be a directory of authored '
        "tools.",
        f'discover/hooks-directory-invalid: Expected "{place}" to be a directory of authored hooks.',
    ]


def test_every_agent_has_its_own_hooks_folders_and_definitions(project: Project, opened: OpenProject) -> None:
    root = project(
        "agent/hooks/a.ts",
        "agent/tools/get-weather.ts",
        "agent/tools/maps/route.ts",
        "agent/connections/linear.ts",
        "agent/connections/github/connection.ts",
        "agent/subagents/s/hooks/a.ts",
        "agent/subagents/s/tools/own.ts",
        "agent/subagents/s/subagents/t/hooks/deep.ts",
    )
    host = opened()
    hooks = {(hook.scope, hook.name): hook for hook in discover(host).load_order}
    assert list(hooks) == [("", "a"), ("subagents/s", "a"), ("subagents/s::subagents/t", "deep")]
    assert [(one.kind, one.name, one.path.relative_to(root / "agent")) for one in hooks["", "a"].beside] == [
        ("tool", "maps-route", Path("tools/maps/route.ts")),
        ("tool", "get-weather", Path("tools/get-weather.ts")),
        ("connection", "github", Path("connections/github/connection.ts")),
        ("connection", "linear", Path("connections/linear.ts")),
    ]
    assert [one.name for one in hooks["subagents/s", "a"].beside] == ["own"]
    assert hooks["", "a"].root == root / "agent"
    assert hooks["subagents/s", "a"].root == root / "agent/subagents/s"
    assert [(folder.source, folder.label) for folder in host.folders] == [
        ("agent", "hooks"),
        ("agent", "tools"),
        ("agent", "connections"),
        ("subagent", "subagents/s/hooks"),
        ("subagent", "subagents/s/tools"),
        ("subagent", "subagents/s/subagents/t/hooks"),
    ]


def test_channels_and_resolvers_count_where_their_text_says_that_they_hear_events(
    project: Project, opened: OpenProject
) -> None:
    dynamic = "export default defineDynamic({ events: {} })"
    project(
        {
            "agent/channels/slack.ts": "export default slackChannel({ events: {} })",
            "agent/channels/silent.ts": "export default slackChannel({})",
            "agent/tools/search.ts": dynamic,
            "agent/tools/plain.ts": "export default defineTool({ events: {} })",
            "agent/instructions/today.py": "default = define_dynamic(events={})",
            "agent/subagents/s/channels/none.ts": "a subagent has no channels; events",
        }
    )
    found = discover(opened()).load_order
    assert [(hook.name, hook.role) for hook in found] == [
        ("channels/slack", "channel"),
        ("tools/search", "dynamic"),
        ("instructions/today", "dynamic"),
    ]


def test_its_gates_say_whose_stream_it_hears_and_that_its_events_are_known_after_a_load(
    project: Project, opened: OpenProject
) -> None:
    project("agent/hooks/a.ts", "agent/subagents/s/hooks/b.ts")
    rows = discover(opened()).hooks
    names = ["build", "handler", "trusted", "sent", "scope"]
    assert [[gate.name for gate in row.verdict.gates] for row in rows] == [names, names]
    assert [row.verdict.gates[-1].found for row in rows] == ["the root agent", "subagents/s"]
    assert {row.verdict.gates[3].found for row in rows} == {"known after a load"}
    assert {row.state for row in rows} == {State.READY}


def test_nothing_runs_until_its_folder_is_trusted(project: Project, opened: OpenProject) -> None:
    root = project("agent/hooks/deep/er/a.ts", "agent/subagents/s/hooks/b.ts")
    host = opened(trusted=False)
    assert [(row.state, trust_target(row.hook, host).folder) for row in discover(host).hooks] == [
        (State.UNTRUSTED, root / "agent/hooks"),
        (State.UNTRUSTED, root / "agent/subagents/s/hooks"),
    ]


def test_a_python_module_is_read_for_its_syntax_and_not_for_a_handler(
    project: Project, opened: OpenProject
) -> None:
    project({"agent/hooks/a.py": "hook = {'events': {'*': print}}", "agent/hooks/b.py": "def hook(:"})
    host = opened()
    rows = examine(discover(host), host).hooks
    assert [row.state for row in rows] == [State.READY, State.BROKEN]


def test_a_plan_names_what_was_refused_and_not_what_is_plainly_something_else(
    project: Project, opened: OpenProject
) -> None:
    project("agent/hooks/notes.md", "agent/hooks/1st.ts", "agent/hooks/a.ts")
    host = opened()
    inventory = discover(host)
    registry = Registry().with_registrations(registrations_of(inventory, host))
    plan = make_plan(Event("turn.started", kind="stream"), registry, inventory, host)
    assert plan.calls == ()
    assert [item.name for item in plan.not_run] == ["a", "1st"]


def test_folders_without_end_and_pipes_in_place_of_modules_end_no_look(
    project: Project, opened: OpenProject
) -> None:
    root = project("agent/hooks/a.ts", "agent/tools/t.ts", f"agent/hooks/{'d/' * 65}lost.ts")
    os.mkfifo(root / "agent/tools/waits.ts")
    os.mkfifo(root / "agent/hooks/pipe.ts")

    inventory = discover(opened("eve"))

    assert [hook.name for hook in inventory.load_order] == ["a", "pipe"]
    (item,) = inventory.rejected
    assert "nested more than 64 deep" in item.reason


def test_a_module_that_throws_is_named_by_its_file_where_the_host_says_no_more() -> None:
    thrown = Failure("Error", "boom", phase="load")
    said = {name: DIALECTS[name].load_rules.reword_failure for name in ("eve@0.80", "eve@0.18")}
    assert all(said.values())
    assert [reworded(thrown, "/app/bad.ts") for reworded in said.values() if reworded] == [
        "Failed to evaluate authored module:\n  /app/bad.ts",
        "boom",
    ]


NO_MODULE = (
    "discover/required-subagent-config-module-missing: Expected one authored subagent config module at "
    '"agent.ts", "agent.cts", "agent.mts", "agent.js", "agent.cjs", or "agent.mjs" (subagents/s).'
)


@pytest.mark.parametrize(("dialect", "state"), [("eve", State.READY), ("eve@0.18", State.BROKEN)])
def test_as_shipped_a_subagent_without_its_module_stops_the_whole_build(
    project: Project, opened: OpenProject, dialect: str, state: State
) -> None:
    project("agent/hooks/a.ts", "agent/subagents/s/hooks/b.ts", bare=True)
    inventory = discover(opened(dialect))
    assert [row.state for row in inventory.hooks] == [state, state]
    assert [one.text for one in inventory.problems] == ([] if state is State.READY else [NO_MODULE])


def test_a_folder_that_no_agent_has_is_told_of_and_stops_nothing(
    project: Project, opened: OpenProject
) -> None:
    project("agent/hook/a.ts", "agent/hooks/a.ts", "agent/subagents/s/agent/hooks/b.ts")
    inventory = discover(opened())
    assert [one.text for one in inventory.problems] == [
        'discover/unsupported-directory: Ignoring unsupported directory "hook/" in the agent root.',
        'discover/unsupported-directory: Ignoring unsupported directory "agent/" in the local subagent root '
        "(subagents/s).",
    ]
    assert [(row.hook.name, row.state) for row in inventory.hooks] == [("a", State.READY)]


@pytest.mark.parametrize(("dialect", "state"), [("eve", State.READY), ("eve@0.18", State.BROKEN)])
def test_without_instructions_no_hook_runs_as_shipped_and_the_file_that_is_wanted_is_known(
    project: Project, opened: OpenProject, dialect: str, state: State
) -> None:
    root = project("agent/hooks/a.ts", "agent/subagents/s/hooks/b.ts")
    (root / "agent/instructions.md").unlink()
    inventory = discover(opened(dialect))
    assert [row.state for row in inventory.hooks] == [state, state]
    wanted = [problem.missing_file for problem in inventory.problems]
    assert wanted == ([] if state is State.READY else [root / "agent/instructions.md"])
    (root / "agent/instructions").mkdir()
    assert {row.state for row in discover(opened(dialect)).hooks} == {State.READY}


def test_what_the_host_throws_while_it_builds_is_what_it_says_and_nothing_else(
    project: Project, opened: OpenProject
) -> None:
    project({"agent/hooks/1st.ts": "", "agent/hooks/a.ts": "", "agent/schedules/daily.md": "no header"})
    (row,) = discover(opened()).hooks
    assert row.verdict.why() == (
        'Eve cannot build the project: Schedule markdown must start with YAML frontmatter declaring "cron".'
    )


def test_a_room_that_cannot_be_read_stops_the_build_and_hides_no_hook(
    project: Project, opened: OpenProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project("agent/hooks/a.ts", "agent/lib/x.ts")
    children = RealFiles.children

    def refused(files: RealFiles, folder: Path) -> list[FolderItem]:
        if folder == root / "agent/lib":
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return children(files, folder)

    monkeypatch.setattr(RealFiles, "children", refused)
    (row,) = discover(opened()).hooks
    assert (
        row.verdict.why()
        == f"Eve cannot build the project: EACCES: permission denied, '{root / 'agent/lib'}'"
    )


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ('{"dependencies": {"eve": "0.80.1"}}', ""),
        (
            '{"devDependencies": {"eve": "0.80.1"}}',
            "No eve project contains {root}: {file} names no eve among",
        ),
        ("[]", "No eve project contains {root}: {file} names no eve among its dependencies."),
        ('{"name":', "The package.json at {file} is not valid JSON."),
    ],
)
def test_the_newer_version_takes_a_folder_whose_package_does_not_need_it_for_no_project(
    manifest: str, why: str, project: Project, opened: OpenProject, tmp_path: Path
) -> None:
    """Recorded from both: 0.18.1 asks nothing of it."""
    root = project("agent/hooks/a.ts", "agent/hooks/1st.ts")
    file = tmp_path / "package.json"  # the nearest one, of a workspace of packages perhaps
    file.write_text(manifest)
    (elder,) = discover(opened("eve@0.18")).hooks
    assert "1st" in elder.verdict.why()
    (row,) = discover(opened("eve@0.80")).hooks
    told = why.format(root=root, file=file) or "hook-name-invalid"
    assert told in row.verdict.why()
    assert {hook.state for hook in discover(opened("eve")).hooks} == {elder.state}


def test_hooks_of_mounted_extensions_are_heard_behind_the_agents_own(
    project: Project, opened: OpenProject
) -> None:
    """Recorded from 0.80.1: what the author wrote where it is there, else what was built."""
    manifest = '{"name": "@acme/%s", "eve": {"extension": {"source": "./extension", "dist": "./dist/e"}}}'
    hook = "export default { events: { 'turn.started'() {} } };"
    project(
        {
            "agent/hooks/z.ts": hook,
            "agent/extensions/crm.ts": 'import crm from "@acme/crm";\nexport default crm();\n',
            "agent/extensions/log/extension.ts": 'export { default } from "@acme/log";\n',
            "agent/extensions/gone.ts": 'export { default } from "@acme/gone";\n',
            "node_modules/@acme/crm/package.json": manifest % "crm",
            "node_modules/@acme/crm/dist/e/hooks/audit.mjs": hook,
            "node_modules/@acme/crm/dist/e/hooks/deep/d.mjs": hook,
            "node_modules/@acme/crm/dist/e/hooks/audit.d.ts": "",
            "node_modules/@acme/log/package.json": manifest % "log",
            "node_modules/@acme/log/extension/hooks/all.ts": hook,
            "node_modules/@acme/log/dist/e/hooks/built.mjs": hook,
        }
    )
    inventory = discover(opened())
    names = [hook.name for hook in inventory.load_order]
    assert names == ["z", "crm__deep/d", "crm__audit", "log__all"]
    scopes = {hook.name: (hook.scope, hook.folder.path.parent.name) for hook in inventory.load_order}
    assert scopes["crm__audit"] == ("", "e")
    assert scopes["log__all"] == ("", "extension")
    for other in ("eve", "eve@0.18"):
        assert [hook.name for hook in discover(opened(other)).load_order] == ["z"]


def test_a_mount_may_name_its_extension_by_a_path(project: Project, opened: OpenProject) -> None:
    """Recorded from 0.80.1: a path starts at the mount's folder, and no package of that name is meant."""
    hook = "export default { events: { 'turn.started'() {} } };"
    root = project(
        {
            "agent/hooks/a.ts": hook,
            "agent/extensions/near.ts": 'export { default } from "../../local";\n',
            "agent/extensions/deep/extension.ts": 'export { default } from "../../../local";\n',
            "local/package.json": '{"name": "l", "eve": {"extension": {"dist": "./dist"}}}',
            "local/dist/hooks/h.mjs": hook,
            "local/dist/_manifest.json": "{}",
        }
    )
    (root / "agent/extensions/whole.ts").write_text(f'export {{ default }} from "{root}/local";\n')
    inventory = discover(opened())
    assert [hook.name for hook in inventory.load_order] == ["a", "near__h", "whole__h", "deep__h"]
    assert {row.state for row in inventory.hooks} == {State.READY}


@pytest.mark.parametrize(
    ("package", "why"),
    [
        (".local", 'Could not resolve extension package ".local" mounted by "extensions/m.ts".'),
        ("/no/such", 'Could not resolve extension package "/no/such" mounted by "extensions/m.ts".'),
        ("../../plain", 'Package "../../plain" is not an eve extension'),
        (
            "../../unbuilt",
            'Extension "u" has no valid compatibility manifest at "{root}/unbuilt/dist/_manifest.json".',
        ),
    ],
)
def test_a_path_that_leads_to_no_built_extension_stops_the_build(
    project: Project, opened: OpenProject, package: str, why: str
) -> None:
    root = project(
        {
            "agent/hooks/a.ts": "export default {};",
            "agent/extensions/m.ts": f'export {{ default }} from "{package}";\n',
            "node_modules/.local/package.json": '{"eve": {"extension": {"dist": "./dist"}}}',
            "plain/package.json": "{}",
            "unbuilt/package.json": '{"name": "u", "eve": {"extension": {"dist": "./dist"}}}',
        }
    )
    (row,) = (row for row in discover(opened()).hooks if row.hook.name == "a")
    assert why.format(root=root) in row.verdict.why()
