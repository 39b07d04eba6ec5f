"""A folder of hooks with planted mistakes, and one without: all of the first are told, none of the second."""

from pathlib import Path
from textwrap import dedent

import pytest

from hookscope.authoring.lint.rules import RULES
from hookscope.hosts.dialects import GUIDES
from hookscope.installation import shipped_hooks

from .conftest import Lint

CLEAN = {
    "deploy-note/HOOK.md": """
        ---
        name: deploy-note
        description: "Writes down what is deployed: one line a session"
        homepage: https://example.org/deploy-note
        metadata:
          {
            "openclaw":
              {
                "emoji": "🚀",
                "events": ["command:new", "command:reset"],
                "requires": { "bins": ["git"], "env": ["DEPLOY_TOKEN"], "config": ["workspace.dir"] },
                "install": [{ "id": "git", "kind": "bundled", "bins": ["git"], }],
              },
          }
        ---
        # Deploy note
        """,
    "deploy-note/handler.ts": """
        import { execFile } from "node:child_process";
        import { appendFile } from "node:fs/promises";
        import path from "node:path";
        import { promisify } from "node:util";
        import type { HookEvent } from "@acme/openclaw/types";

        const run = promisify(execFile);
        const level = process.env.DEPLOY_LEVEL ?? "short";

        interface Note { text: string; at: Date }

        async function note(event: HookEvent): Promise<Note> {
          const context = event.context ?? {};
          const { stdout } = await run("git", ["-C", context.workspaceDir as string, "log", "-1"]);
          return { text: stdout, at: event.timestamp };
        }

        export default async function handler(event: HookEvent) {
          if (event.type !== "command" || !["new", "reset"].includes(event.action)) return;
          const { text } = await note(event);
          if (!process.env.DEPLOY_QUIET) console.log(level, text);
          await fetch("https://example.org/notes", { headers: { token: process.env.DEPLOY_TOKEN! } });
          await appendFile(path.join(event.context.workspaceDir, "deploys.md"), text);
          event.messages.push("Noted.");
        }
        """,
    "old-style/HOOK.md": """
        ---
        name: old_style
        description: CommonJS, as many are
        metadata: {"openclaw": {"events": ["agent:bootstrap"], "always": true}}
        ---
        """,
    "old-style/handler.js": """
        const os = require('node:os');

        function isObject(value) {
          return !!value && typeof value === 'object' && value.type !== 'command:new';
        }

        const handler = async (event) => {
          if (!event || event.type !== 'agent' || event.action !== 'bootstrap') return;
          if ((event.sessionKey || '').includes(':subagent:')) return;
          const files = event.context.bootstrapFiles;
          if (!Array.isArray(files)) return;
          const notes = files.filter((file) => isObject(file) && file.path !== 'NOTES.md');
          notes.push({ name: 'NOTES.md', path: 'NOTES.md', content: os.homedir() });
          event.context.bootstrapFiles = notes;
        };

        module.exports = handler;
        module.exports.default = handler;
        """,
    "watcher/HOOK.md": """
        ---
        name: Watcher
        metadata:
          openclaw:
            events:
              - command
              - message:received
            os: [linux, darwin]
            requires:
              anyBins: [rg, grep]
          milady: {events: ["session:new"]}
          hookscope: {limits: {run: 20}}
        ---
        """,
    "watcher/handler.py": '''
        """Counts. Never touches /Users/anybody."""
        import os
        import shutil
        import subprocess
        from pathlib import Path

        HOME = Path.home()


        def answer():
            return {"decision": "none of a hook's"}


        async def handler(event):
            match event.type:
                case "message":
                    text = event.context.get("content", "")
                case "command":
                    text = event.context.get("commandSource")
                case _:
                    return
            if event.action in ("new", "reset", "deploy"):
                (HOME / "count").write_text(str(text))
            tool = shutil.which("rg") or "grep"
            subprocess.run([tool, "x", os.environ.get("COUNT_FILE") or "counts.txt"], check=False)
            if os.environ.get("COUNT_DEBUG"):
                print(answer(), os.environ["PATH"], os.environ.get("OPENCLAW_STATE_DIR"))
        ''',
    "module/HOOK.md": """
        ---
        name: module
        metadata: {openclaw: {events: ["gateway:startup"]}}
        ---
        """,
    "module/package.json": '{"type": "module", "private": true}',
    "module/handler.js": """
        import https from "node:https";
        export const handler = (event) => new Promise((done) => {
          const request = https.get("https://example.org/up", (answer) => done(answer.statusCode));
          request.on("error", (error) => done(error.type === "timeout"));
        });
        export default handler;
        """,
    "no-hook/README.md": "Notes on hooks.\n",
    "shared/lib.ts": "export const shared = process.env.SHARED;\n",
}

PLANTED = {
    "bus/HOOK.md": """
        ---
        name: bus
        metadata: {"openclaw": {"events": ["after_tool_call", "message_received"]}}
        ---
        """,
    "bus/handler.ts": "export default async () => {};\n",
    "gate/HOOK.md": """
        ---
        name: gate
        metadata:
          openclaw:
            events: ["PreToolUse", "message:recieved"]
            require: {bins: [jq]}
        ---
        """,
    "gate/handler.ts": """
        const gate = async (event: any) => {
          if (event.context.toolName === "rm") {
            return { block: true, reason: "no" };
          }
        };
        export default gate;
        """,
    "sync/HOOK.md": """
        ---
        name: synchronise
        events: ["message:sent"]
        metadata: {"openclaw": {"events": ["message:received"], "requires": {"env": ["SYNC_URL"]}}}
        ---
        """,
    "sync/handler.js": """
        import { execSync } from 'child_process';
        import { readFileSync } from 'fs';

        export default async function sync(event) {
          if (event.type === 'message:received') return;
          if (event.action === 'sent' || event.type === 'session') return;
          const key = process.env.SYNC_KEY;
          const notes = readFileSync('/home/joe/notes.txt');
          const changed = execSync(`rsync -a ${event.context.workspaceDir} ${process.env.SYNC_URL}`);
          event.messages.push(`${key} ${notes} ${changed} ${event.context.contents}`);
        }
        """,
    "sync/handler.ts.bak": "",
    "always/HOOK.md": """
        ---
        name: always
        metadata: {openclaw: {events: [command, command:new], always: true, requires: {env: [A]}, os: [osx]}}
        ---
        """,
    "always/handler.py": "def handler(event):\n    return None\n",
    "always/handler.ts": "export default () => {};\n",
    "elsewhere/HOOK.md": "---\nname: elsewhere\nmetadata: {clawdbot: {events: [command]}}\n---\n",
    "elsewhere/handler.py": "def handler(event): ...\n",
    "empty/HOOK.md": "",
    "empty/handler.js": "",
    "prose/HOOK.md": "# How hooks are designed here\n",
    "nothing/HOOK.md": "---\nname: nothing\n---\n",
    "nothing/handler.py": "def handler(event):\n    if event.type == 'command'\n",
    "lonely/HOOK.md": "---\nname: lonely\nmetadata: {openclaw: {events: [command]}}\n---\n",
    "module-only/HOOK.md": "---\nname: module-only\nmetadata: {openclaw: {events: [command]}}\n---\n",
    "module-only/handler.mjs": "export default () => {};\n",
}
FOUND = {
    ("bus", "events-unknown", 3),
    ("gate", "events-unknown", 5),
    ("gate", "key-unknown", 6),
    ("gate", "decision-returned", 3),
    ("sync", "name-differs", 2),
    ("sync", "module-type", 1),
    ("sync", "guard-key", 5),
    ("sync", "guard-action", 6),
    ("sync", "guard-type", 6),
    ("sync", "env-undeclared", 7),
    ("sync", "home-hard-coded", 8),
    ("sync", "bins-undeclared", 9),
    ("sync", "field-unknown", 9),
    ("sync", "field-unknown", 10),
    ("sync", "messages-ignored", 10),
    ("always", "always-requires", 3),
    ("always", "events-twice", 3),
    ("always", "os-unknown", 3),
    ("always", "handler-twice", 1),
    ("elsewhere", "metadata-namespace", 3),
    ("empty", "file-empty", 1),
    ("prose", "header-missing", 1),
    ("nothing", "metadata-missing", 1),
    ("nothing", "handler-syntax", 2),
    ("lonely", "handler-missing", 1),
    ("module-only", "handler-extension", 1),
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))
    return folder


def test_every_planted_mistake_is_found(lint_under: Lint, tmp_path: Path) -> None:
    report = lint_under(written(tmp_path / "hooks", PLANTED)).report
    found = {(one.place.file.parent.name, one.rule, one.place.line) for one in report.findings}
    assert found == FOUND
    assert not report.not_run


def test_hooks_without_mistakes_have_no_findings(lint_under: Lint, tmp_path: Path) -> None:
    report = lint_under(written(tmp_path / "hooks", CLEAN)).report
    assert [(one.hook, one.rule, one.text) for one in report.findings] == []
    assert {subject.name for subject in report.subjects} == {"deploy-note", "old_style", "Watcher", "module"}


@pytest.mark.parametrize("dialect", [guide.name for guide in GUIDES])
def test_the_bundled_hooks_have_no_findings(dialect: str, lint_under: Lint) -> None:
    report = lint_under(shipped_hooks(), dialect=dialect).report
    assert not report.findings
    assert not report.not_run


def test_every_mistake_seen_in_public_hooks_has_a_rule() -> None:
    """The table of what was counted in public files, with the rule of each."""
    seen = {
        "variable read and not declared": "env-undeclared",
        "ES module in .js without package.json": "module-type",
        "two handlers in one folder": "handler-twice",
        "events that are dead": "events-unknown",
        "events that are documented and dead": "events-never-sent",
        "program started and not declared": "bins-undeclared",
        "messages where they are ignored": "messages-ignored",
        "no handler": "handler-missing",
        "no front matter": "header-missing",
        "no metadata": "metadata-missing",
        "keys at the top": "key-misplaced",
        "somebody's home": "home-hard-coded",
        "name and folder differ": "name-differs",
        "unknown key": "key-unknown",
        "extension that is not loaded": "handler-extension",
        "guard of an action": "guard-action",
        "guard of type:action": "guard-key",
        "guard of a type": "guard-type",
        "always with requires": "always-requires",
        "metadata in quotes": "metadata-quoted",
        "wrong package": "sdk-name",
        "empty files": "file-empty",
        "decisions": "decision-returned",
    }
    assert set(seen.values()) <= RULES.keys()
