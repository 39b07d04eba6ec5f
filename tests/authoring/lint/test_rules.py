"""Every rule does what its own documentation shows, and nothing else."""

import os
from pathlib import Path

import pytest
from tests.conftest import newest_shipped

from hookscope.authoring.lint.linting import RuleDocumentation, rule_documentation
from hookscope.authoring.lint.model import LintFinding, Rule, Severity
from hookscope.authoring.lint.rules import RULES
from hookscope.storage.edits.change import change_of

from .conftest import Lint, WriteHook

NEWEST = newest_shipped("OpenClaw").name


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_finds_what_its_documentation_shows(
    rule: Rule, lint_under: Lint, write_hook: WriteHook
) -> None:
    shown = rule_documentation(rule.text)
    dialect = shown.host or "openclaw"
    assert RULES[rule.id] is rule
    assert shown.title.endswith(".")
    assert shown.why.endswith(".")

    folder = write_hook(shown.bad, f"bad/{shown.folder}")
    linted = lint_under(folder, dialect=dialect)
    assert {finding.rule for finding in linted.report.findings} == {rule.id}
    assert not linted.report.not_run
    for finding in linted.report.findings:
        assert_leads_on(finding, folder)
        assert rule.id in finding.docs
        assert_can_be_fixed(finding, folder)

    linted = lint_under(write_hook(shown.good, f"good/{shown.folder}"), dialect=dialect)
    assert not linted.report.findings
    assert len(linted.report.subjects) == 1

    ignoring = with_ignored(rule, shown)
    if ignoring is not None:
        assert not lint_under(
            write_hook(ignoring, f"ignored/{shown.folder}"), dialect=dialect
        ).report.findings


def assert_leads_on(finding: LintFinding, folder: Path) -> None:
    """The finding names a place below the folder, and what to do next."""
    assert finding.place.file.is_relative_to(folder)
    assert finding.place.file.exists()
    assert finding.place.line <= len(finding.place.file.read_text().splitlines()) + 1
    assert finding.text.endswith(".")
    assert finding.next_step


def assert_can_be_fixed(finding: LintFinding, folder: Path) -> None:
    """Each edit of the fix is one of the folder's own files; those of JSON can be made."""
    for edit in finding.fix or ():
        assert edit.file.parent == folder
        if edit.file.suffix == ".json":
            assert change_of(edit.file, [edit]).new is not None


def with_ignored(rule: Rule, shown: RuleDocumentation) -> dict[str, str] | None:
    """The files of the bad example with the rule switched off; None where their header cannot say so."""
    manifest = shown.bad.get("HOOK.md", "")
    if "metadata: {" not in manifest or rule.id in ("header-broken", "ignore-unknown"):
        return None
    switched_off = f"metadata: {{hookscope: {{lint: {{ignore: [{rule.id}]}}}}, "
    if shown.host:
        switched_off = f'metadata: {{"hookscope": {{"lint": {{"ignore": ["{rule.id}"]}}}}, '
    return {**shown.bad, "HOOK.md": manifest.replace("metadata: {", switched_off, 1)}


HEADER = '---\nname: tidy\nmetadata: {{openclaw: {{events: ["{event}"]{more}}}}}\n---\n'


def header(event: str = "command:new", more: str = "") -> str:
    return HEADER.format(event=event, more=more)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (
            "handler.py",
            'import os\ndef handler(event):\n    print(os.environ["KEY"])  # hookscope: ignore[{}]\n',
        ),
        (
            "handler.py",
            'import os\ndef handler(event):\n    # needed: hookscope: ignore[{}]\n    os.environ["KEY"]\n',
        ),
        ("handler.ts", "export default () => {{ use(process.env.KEY); /* hookscope: ignore[a, {}] */ }};\n"),
    ],
)
def test_a_comment_ignores_a_rule_on_its_line(
    file: str, line: str, lint_under: Lint, write_hook: WriteHook
) -> None:
    folder = write_hook({"HOOK.md": header(), file: line.format("env-undeclared")})
    assert "env-undeclared" not in {one.rule for one in lint_under(folder).report.findings}
    write_hook({file: line.format("bins-undeclared")})
    assert "env-undeclared" in {one.rule for one in lint_under(folder).report.findings}


def test_an_unused_ignore_comment_is_reported(lint_under: Lint, write_hook: WriteHook) -> None:
    text = 'import os  # hookscope: ignore[env-undeclared]\ndef handler(event):\n    os.environ["KEY"]\n'
    folder = write_hook({"HOOK.md": header(), "handler.py": text})
    (finding,) = lint_under(folder).report.findings
    assert (finding.rule, finding.place.line, finding.place.column) == ("env-undeclared", 3, 5)


@pytest.mark.parametrize(
    ("event", "then"),
    [
        ("message_received", "Write `message:received`."),
        ("before_tool_call", "Only a plugin receives it, as `before_tool_call`."),
        ("PreToolUse", "Only a plugin receives it, as `before_tool_call`."),
        ("UserPromptSubmit", "Write `message:received`."),
        ("command:compact", "`hookscope events` lists the events."),
        ("message:send", "Write `message:sent`."),
        ("gateway:start", "Write `gateway:startup`."),
        ("mesage:received", "Write `message:received`."),
        ("Command:New", "Write `command:new`."),
        ("command-new", "Write `command:new`."),
        ("command:nwe", "Write `command:new`."),
        ("command:*", "Write `command`."),
        ("message:error", "`hookscope events` lists the events."),
        ("subagent", "`hookscope events` lists the events."),
        ("tool:call", "Only a plugin receives it, as `before_tool_call` or `after_tool_call`."),
        ("tool:pre-execute", "Only a plugin receives it, as `before_tool_call` or `after_tool_call`."),
        ("tool:post", "Only a plugin receives it, as `after_tool_call`."),
        ("llm", "Only a plugin receives it, as `llm_input` or `llm_output`."),
        ("telegram", "The closest match is `message:received`."),
        ("user:prompt", "The closest match is `message:received`."),
        ("agent:error", "Only a plugin receives it, as `agent_end`."),
        ("*", "`hookscope events` lists the events."),
        ("moon:rise", "`hookscope events` lists the events."),
    ],
)
def test_an_unknown_event_suggests_a_close_match_or_nothing(
    event: str, then: str, lint_under: Lint, write_hook: WriteHook
) -> None:
    folder = write_hook({"HOOK.md": header(event), "handler.py": "def handler(event): ...\n"})
    findings = lint_under(folder).report.findings
    assert [(one.rule, one.next_step) for one in findings] == [("events-unknown", then)]


def test_an_event_missing_in_the_guide_but_sent_is_accepted(lint_under: Lint, write_hook: WriteHook) -> None:
    files = {"HOOK.md": header('session:patch", "tool:call'), "handler.py": "def handler(event): ...\n"}
    report = lint_under(write_hook(files)).report
    assert [(str(one.severity), one.text) for one in report.findings] == [
        ("warning", "`tool:call` is not an event of OpenClaw: tool calls are not sent."),
        ("hint", f"`session:patch` is not in OpenClaw's guide, but {NEWEST} sends it."),
    ]


def test_an_event_in_plugin_spelling_is_reported(lint_under: Lint, write_hook: WriteHook) -> None:
    files = {"HOOK.md": header("before_agent_finalize"), "handler.py": "def handler(event): ...\n"}
    (finding,) = lint_under(write_hook(files)).report.findings
    assert "names with `_` are plugin events" in finding.text


def test_custom_commands_are_accepted(lint_under: Lint, write_hook: WriteHook) -> None:
    folder = write_hook({"HOOK.md": header("command:deploy"), "handler.py": "def handler(event): ...\n"})
    assert not lint_under(folder).report.findings


def test_a_shipped_program_knows_more_events_than_its_guide(lint_under: Lint, write_hook: WriteHook) -> None:
    folder = write_hook({"HOOK.md": header("command:compact"), "handler.ts": "export default () => {};\n"})
    (finding,) = lint_under(folder, dialect="openclaw@2026.9").report.findings
    assert finding.severity is Severity.ERROR
    assert finding.next_step == "Write `session:compact:before` or `session:compact:after`."


def test_one_dead_event_among_living_ones_is_a_warning(lint_under: Lint, write_hook: WriteHook) -> None:
    folder = write_hook(
        {"HOOK.md": header('agent_end", "command:new'), "handler.py": "def handler(e): ...\n"}
    )
    (finding,) = lint_under(folder).report.findings
    assert finding.severity is Severity.WARNING
    assert "only plugins receive it" in finding.text
    assert not lint_under(folder).report.failed


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("index.ts", "export default function register(api) { api.on('agent_end', f); }\n"),
        ("handler.py", "def register(api):\n    api.on('agent_end', print)\n"),
    ],
)
def test_text_beside_a_plugin_is_not_linted_as_a_hook(
    file: str, text: str, lint_under: Lint, write_hook: WriteHook
) -> None:
    report = lint_under(write_hook({"HOOK.md": "# What this plugin hears\n", file: text})).report
    (finding,) = report.findings
    assert (finding.rule, finding.text.partition(",")[0]) == (
        "header-missing",
        f"{file} registers plugin handlers",
    )
    assert not report.failed


def test_a_text_named_hook_md_without_handler_is_not_an_error(
    lint_under: Lint, write_hook: WriteHook
) -> None:
    folder = write_hook({"HOOK.md": "# How our hooks are designed\n\nSome prose.\n"})
    report = lint_under(folder).report
    (finding,) = report.findings
    assert finding.text == "HOOK.md has no front matter, so it is not a hook."
    assert not report.failed


def test_events_of_stream_modules_are_checked(lint_under: Lint, tmp_path: Path) -> None:
    hooks = tmp_path / "project" / "agent" / "hooks"
    hooks.mkdir(parents=True)
    text = 'import { defineHook } from "eve/hooks";\n'
    text += 'export default defineHook({ events: { "session.start": f } });\n'
    (hooks / "audit.ts").write_text(text)
    (finding,) = lint_under(tmp_path / "project", dialect="eve").report.findings
    assert (finding.rule, finding.next_step) == ("events-unknown", "Write `session.started`.")
    assert (finding.place.line, finding.place.column) == (2, 1 + text.split("\n")[1].index('"session.start"'))


def test_a_hook_in_an_unreadable_folder_is_skipped(
    lint_under: Lint, write_hook: WriteHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_hook({"HOOK.md": header(), "handler.py": "def handler(event): ...\n"})
    listed = os.listdir

    def refusing(path: Path) -> list[str]:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "listdir", refusing)
    assert not lint_under(folder.parent).report.findings


@pytest.mark.parametrize(
    ("file", "text", "then"),
    [
        (
            "handler.ts",
            "export async function tidies(event) {}\n",
            "Write `export default` before the function to call, or put `export: tidies` into the metadata.",
        ),
        (
            "handler.ts",
            "async function handler(event) {}\n",
            "Write `export default` before the function to call.",
        ),
        (
            "handler.js",
            "async function run(event) {}\nmodule.exports = { run, other: 1 };\n",
            "Write `module.exports = run;`, or put `export: run` into the metadata.",
        ),
        ("handler.py", "x = 1\n", "Write `def handler(event)`."),
        (
            "handler.py",
            "def a(event): ...\ndef b(event): ...\n",
            "Write `def handler(event)`, or name the function in the metadata as `export`.",
        ),
    ],
)
def test_a_missing_export_is_reported_with_the_correction(
    file: str, text: str, then: str, lint_under: Lint, write_hook: WriteHook
) -> None:
    report = lint_under(write_hook({"HOOK.md": header(), file: text})).report
    assert [(one.rule, one.next_step) for one in report.findings] == [("export-missing", then)]
    assert report.failed


def test_missing_events_and_unreadable_scripts_are_reported(lint_under: Lint, write_hook: WriteHook) -> None:
    manifest = "---\nname: tidy\nmetadata: {openclaw: {}}\n---\n"
    report = lint_under(write_hook({"HOOK.md": manifest, "handler.ts": "export default () => {\n"})).report
    assert {(one.rule, one.severity) for one in report.findings} == {
        ("events-none", Severity.ERROR),
        ("handler-syntax", Severity.WARNING),
    }


def test_commonjs_in_an_es_module_package_is_an_error(lint_under: Lint, write_hook: WriteHook) -> None:
    files = {
        "HOOK.md": header(),
        "handler.js": "module.exports = () => {};\n",
        "package.json": '{"type": "module"}',
    }
    folder = write_hook(files)
    (finding,) = lint_under(folder).report.findings
    assert (finding.rule, finding.severity) == ("module-type", Severity.ERROR)
    assert [edit.meaning for edit in finding.fix or ()] == ['"type": "commonjs"']
    write_hook({"package.json": "{}"})
    assert not lint_under(folder).report.findings


def strict(lint_under: Lint, folder: Path) -> list[tuple[str, str, str]]:
    """What is said of it under a program that loads scripts as Node does."""
    found = lint_under(folder, dialect="openclaw@2026.9").report.findings
    return [(one.rule, str(one.severity), one.next_step) for one in found]


def test_code_that_prevents_loading_is_reported_unless_the_host_tolerates_it(
    lint_under: Lint, write_hook: WriteHook
) -> None:
    lines = [
        'import { a } from "./a.js";',
        'import { b } from "./b";',
        'import { c } from "./c/index.js";',
        'import { d } from "../dist/d.js";',
        'import { e } from "../../src/e.js";',
        'import pad from "left-pad/deep";',
        'import scoped from "@some/one/deep";',
        'import { sdk } from "openclaw/plugin-sdk";',
        'import { existsSync } from "fs";',
        'import { z } from "node:zlib";',
        'import { own } from "#own";',
        'import type { F } from "./f.js";',
        "export default (event) => use(a, b, c, d, e, pad, scoped, sdk, existsSync, z, own);",
    ]
    files = {"HOOK.md": header(), "handler.ts": "\n".join(lines), "a.ts": "", "b.ts": ""}
    folder = write_hook(files)
    (folder / "c").mkdir()
    (folder / "c" / "index.js").write_text("")
    assert strict(lint_under, folder) == [
        ("import-missing", "error", "Write `./a.ts`, or compile both files to JavaScript."),
        ("import-missing", "error", "Write `./b.ts`, or compile both files to JavaScript."),
        ("import-missing", "error", "Create that file, or correct its path."),
        ("import-missing", "error", "Create that file, or correct its path."),
        ("import-missing", "warning", "Run `npm install left-pad` there."),
        ("import-missing", "warning", "Run `npm install @some/one` there."),
        ("import-missing", "warning", "Import only types (`import type`), and remove the other imports."),
    ]
    (folder / "node_modules" / "left-pad").mkdir(parents=True)
    guide = lint_under(folder).report
    assert [(one.place.line, str(one.severity)) for one in guide.findings] == [(4, "warning"), (7, "warning")]
    assert not guide.failed


def test_results_written_to_the_event_are_reported_as_ignored(
    lint_under: Lint, write_hook: WriteHook
) -> None:
    body = "event.cancel = true; event.cancelReason = 'no'; event.mine = 1;"
    text = f"export default async (event) => {{ {body} }};\n"
    (finding,) = lint_under(write_hook({"HOOK.md": header(), "handler.ts": text})).report.findings
    assert (finding.rule, str(finding.severity)) == ("event-member", "warning")
    assert finding.text.startswith("The handler sets `event.cancel`, `event.cancelReason`, which the host")


def test_unknown_event_members_give_at_most_two_findings(lint_under: Lint, write_hook: WriteHook) -> None:
    text = """
export default async (event) => {
  use(event.from, event.content, event.content, event.a, event.b, event.c, event.d, event.e, event.f);
};
"""
    found = lint_under(
        write_hook({"HOOK.md": header("message:received"), "handler.ts": text})
    ).report.findings
    assert [(str(one.severity), one.text) for one in found] == [
        ("warning", "No event has `event.from`, `event.content`: they are in the event's context."),
        ("hint", "No event has `event.a`, `event.b`, `event.c`, `event.d`, `event.e` and 1 more."),
    ]


def test_es_modules_are_an_error_only_in_a_commonjs_package(lint_under: Lint, write_hook: WriteHook) -> None:
    folder = write_hook({"HOOK.md": header(), "handler.js": "export default () => {};\n"})
    for package, severity in ((None, "hint"), ("{}", "hint"), ('{"type": "commonjs"}', "error")):
        if package is not None:
            write_hook({"package.json": package})
        (finding,) = lint_under(folder).report.findings
        assert (finding.rule, str(finding.severity)) == ("module-type", severity)
    write_hook({"package.json": '{"type": "module"}'})
    assert not lint_under(folder).report.findings


def test_merge_conflict_markers_are_named(lint_under: Lint, write_hook: WriteHook) -> None:
    sides = "<<<<<<< HEAD\nhomepage: a\n=======\nhomepage: b\n>>>>>>> other\n"
    manifest = header().replace("metadata:", sides + "metadata:")
    report = lint_under(write_hook({"HOOK.md": manifest, "handler.py": "def handler(event): ...\n"})).report
    (finding,) = report.findings
    assert finding.rule == "header-broken"
    assert finding.next_step == "Line 3 begins an unresolved merge conflict: keep one side."


def test_an_unresolvable_type_import_is_an_error(lint_under: Lint, write_hook: WriteHook) -> None:
    lines = [
        'import { HookHandler } from "openclaw/hooks";',
        'import { ChildProcess } from "node:child_process";',
        'import { Kind } from "./kind.ts";',
        "let child: ChildProcess, kind: Kind;",
        "const handler: HookHandler = async () => {};",
        "export default handler;",
    ]
    folder = write_hook({"HOOK.md": header(), "handler.ts": "\n".join(lines), "kind.ts": ""})
    told = [(rule, severity) for rule, severity, _ in strict(lint_under, folder)]
    assert told == [("import-types", "error"), ("import-types", "hint"), ("import-types", "hint")]
    assert not lint_under(folder).report.findings
