"""`hookscope verify`: our answers beside those of an installed host, here a small program on PATH."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook
from tests.done import Done

from hookscope.analysis.verification import Verifier
from hookscope.app.options import Options
from hookscope.model.failure import Refusal

SECRET = "tok-5f3a9c2b7d1e4f60"
EVENTS = '{openclaw: {events: ["command:new"]}}'
ANSWERS = """#!/bin/sh
case "$1 $2" in
  plugins*) cat "$(dirname "$0")/plugins.json" ;;
  *info) cat "$(dirname "$0")/info.json" ;;
  *) cat "$(dirname "$0")/$2.json" ;;
esac
"""
Host = Callable[..., Path]
Verify = Callable[..., Done]


@pytest.fixture
def host(tmp_path: Path, home: Path) -> Host:
    """Write a program `openclaw` with its package; the script, or the JSON that it prints."""

    def made(script: str = ANSWERS, **documents: Any) -> Path:
        package = tmp_path / "package"
        package.mkdir(exist_ok=True)
        documents.setdefault("plugins", {"plugins": []})
        (package / "package.json").write_text('{"name": "openclaw", "version": "2026.9.6"}')
        for name, document in documents.items():
            (package / f"{name}.json").write_text(json.dumps(document))
        program = package / "openclaw"
        program.write_text(script)
        program.chmod(0o755)
        return package

    return made


@pytest.fixture
def verify(hookscope: Program, tmp_path: Path, home: Path, workspace: Path) -> Verify:
    """Run `verify` with that program first on PATH."""
    (home / ".openclaw" / "hooks").mkdir(parents=True, exist_ok=True)
    path = f"{tmp_path / 'package'}{os.pathsep}{os.environ['PATH']}"

    def run(*words: str, before: tuple[str, ...] = (), **env: str) -> Done:
        return hookscope(*before, "verify", *words, env={"PATH": path, **env})

    return run


def answers_of(hookscope: Program, workspace: Path, **package: str) -> dict[str, Any]:
    """The answers of a host that agrees with Hookscope: `list` and `check`."""
    words = ("--dialect", "openclaw@2026.9", "--workspace", str(workspace))
    return {
        name: hookscope(*words, name, "--json", "--format", "host", env=package).json
        for name in ("list", "check")
    }


@pytest.fixture
def agreeing(
    hookscope: Program, host: Host, home: Path, workspace: Path, make_hook: MakeHook, tmp_path: Path
) -> Host:
    """A home with three hooks, and a host that agrees about them, until told something else."""
    hooks = home / ".openclaw" / "hooks"
    for name in ("greet", "tidy", "wave"):
        make_hook(hooks, name, EVENTS, "export default () => {};\n", file="handler.js")
    host()
    path = {"PATH": f"{tmp_path / 'package'}{os.pathsep}{os.environ['PATH']}"}
    answers = answers_of(hookscope, workspace, **path)
    assert [hook["name"] for hook in answers["list"]["hooks"]] == ["greet", "tidy", "wave"]

    def changed(**members: Any) -> Path:
        found = json.loads(json.dumps(answers))
        for name, values in members.items():
            hook = next(hook for hook in found["list"]["hooks"] if hook["name"] == name)
            found["list"]["hooks"].remove(hook) if values is None else hook.update(values)
        return host(**found, info={})

    return changed


def test_verify_reports_that_every_hook_agrees(agreeing: Host, verify: Verify) -> None:
    agreeing()
    done = verify("--yes")
    assert done.code == 0, done.err
    assert done.out.startswith("✓ 3 of 3 agree: OpenClaw 2026.9.6 and openclaw@2026.9")
    document = verify("--yes", "--json").json
    assert (document["agrees"], document["compared"], document["agreed"]) == (True, 3, 3)
    assert {*document} == {
        *("product", "version", "dialect", "program", "workspace", "isolated", "agrees", "summary"),
        *("compared", "agreed", "host", "differences", "not_compared", "notes"),
    }


def test_verify_shows_both_reasons_of_a_difference(agreeing: Host, verify: Verify) -> None:
    agreeing(tidy={"loadable": False, "eligible": False, "enabledByConfig": False, "blockedReason": "tired"})
    done = verify("--yes", "--json")
    assert done.code == 1
    (difference,) = done.json["differences"]
    assert (done.json["summary"], difference["hook"]) == ("2 of 3 agree", "tidy")
    assert {"what": "enabled", "hookscope": "on", "program": "tired"} in difference["facts"]
    assert difference["meaning"] == "It does not run in the program, although Hookscope shows it as ready."


def test_verify_reports_a_hook_that_the_host_does_not_list(agreeing: Host, verify: Verify) -> None:
    agreeing(wave=None)
    done = verify("--yes")
    assert done.code == 1
    assert "2 of 3 agree" in done.out
    assert "✗ wave: It does not run in the program, although Hookscope shows it as ready." in done.out


def test_verify_reports_a_difference_in_reasons_only(agreeing: Host, verify: Verify) -> None:
    agreeing(greet={"missing": {"bins": ["jq"], "anyBins": [], "env": [], "config": [], "os": []}})
    done = verify("--yes")
    assert done.code == 1
    assert "✗ greet: The result is the same: it runs. Only the reasons differ." in done.out
    assert "missing jq" in done.out


def test_verify_does_not_compare_fields_that_an_older_host_omits(
    agreeing: Host, verify: Verify, tmp_path: Path
) -> None:
    package = agreeing()
    document = json.loads((package / "list.json").read_text())
    for hook in document["hooks"]:
        del hook["unknownEvents"]
    (package / "list.json").write_text(json.dumps(document))
    assert verify("--yes").code == 0


def test_verify_skips_lines_before_the_json(agreeing: Host, verify: Verify, host: Host) -> None:
    agreeing()
    host(ANSWERS.replace('case "$2"', 'echo "[plugins] {odd} loading"\ncase "$2"'))
    assert verify("--yes").code == 0


def test_verify_starts_the_host_only_with_consent(
    agreeing: Host, verify: Verify, host: Host, tmp_path: Path
) -> None:
    agreeing()
    mark = tmp_path / "started"
    host(f"#!/bin/sh\ntouch {mark}\n")
    for words in ((), ("--json",)):
        done = verify(*words)
        assert done.code == 1
        assert "Nothing was started. Start OpenClaw 2026.9.6" in done.err
    assert not mark.exists()


def test_verify_reports_a_host_that_is_not_installed(verify: Verify) -> None:
    done = verify("--yes", before=("--dialect", "openclaw@2026.9"), PATH="/usr/bin:/bin")
    assert done.code == 1
    assert "There is no program 'openclaw' on PATH" in done.err


def test_verify_reports_a_host_without_a_list_command(verify: Verify) -> None:
    done = verify("--yes", before=("--dialect", "milady@2.0.0-alpha.76"))
    assert done.code == 1
    assert "Milady has no command that lists its hooks, so there is nothing to compare." in done.err


def test_verify_reports_a_host_that_prints_no_json(agreeing: Host, verify: Verify, host: Host) -> None:
    agreeing()
    host(f"#!/bin/sh\necho 'Node is too old, token={SECRET}' >&2\nexit 3\n")
    done = verify("--yes")
    assert done.code == 1
    assert "OpenClaw printed no JSON for 'list' (exit code 3)" in done.err
    assert "Node is too old" in done.err
    assert SECRET not in done.err


def test_verify_reports_a_host_that_refuses_the_settings(agreeing: Host, verify: Verify, host: Host) -> None:
    agreeing()
    host("#!/bin/sh\necho 'Invalid config at /x: - hooks: bad' >&2\nexit 1\n")
    done = verify("--yes", "--json")
    assert done.code == 1
    assert done.json["summary"] == "the settings differ"
    assert done.json["host"][0]["program"].startswith("Invalid config at /x")


def test_verify_reports_settings_that_both_refuse(
    agreeing: Host, verify: Verify, host: Host, home: Path
) -> None:
    (home / ".openclaw/openclaw.json").write_text('{"hooks": ')
    host("#!/bin/sh\necho 'Failed to read config at /x/openclaw.json: JSON5: invalid end' >&2\nexit 1\n")
    done = verify("--yes", "--json")
    assert (done.code, done.json["summary"], done.json["host"]) == (0, "both refuse the settings", [])


def test_verify_gives_the_host_masked_copies(agreeing: Host, verify: Verify, host: Host, home: Path) -> None:
    """Settings, variables and `.env` are masked; credentials and sessions are not copied."""
    package = agreeing()
    state = home / ".openclaw"
    settings = {"gateway": {"auth": {"token": SECRET}}, "hooks": {"internal": {"enabled": True}}}
    (state / "openclaw.json").write_text(json.dumps(settings))
    (state / ".env").write_text(f"OPENAI_API_KEY={SECRET}\n")
    for name in ("credentials", "agents/main/sessions"):
        (state / name).mkdir(parents=True)
        (state / name / "kept.json").write_text(SECRET)
    leak = "grep -rlF tok-5f3a $HOME/.openclaw >&2; env | grep -F tok-5f3a >&2; ls $HOME/.openclaw >&2"
    host(f"#!/bin/sh\n{leak}\necho changed >> $HOME/.openclaw/hooks/greet/HOOK.md\nexit 5\n")
    before = (state / "hooks/greet/HOOK.md").read_text()
    done = verify("--yes", MY_API_KEY=SECRET)
    assert (done.code, package.is_dir()) == (1, True)
    said = done.err.partition("(exit code 5): ")[2]
    assert "openclaw.json" in said
    for leaked in ("credentials", "agents", "MY_API_KEY", SECRET, "/.openclaw/"):
        assert leaked not in said
    assert (state / "hooks/greet/HOOK.md").read_text() == before


def test_verify_says_that_the_host_had_the_network_without_bubblewrap(
    agreeing: Host, verify: Verify, tmp_path: Path
) -> None:
    agreeing()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat", "dirname"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    path = f"{tmp_path / 'package'}{os.pathsep}{tools}"
    done = verify("--yes", PATH=path)
    assert done.code == 0, done.err
    assert (
        "! Without bubblewrap, the program had network access and could write wherever you can." in done.out
    )
    assert verify("--yes", "--json", PATH=path).json["isolated"] is False


def test_a_program_that_takes_too_long_is_ended_and_named(
    agreeing: Host, host: Host, workspace: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host("#!/bin/sh\nsleep 600\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'package'}{os.pathsep}{os.environ['PATH']}")
    verifier = Verifier(Options(dialect="openclaw@2026.9", workspace=workspace), seconds=0.05)
    with pytest.raises(Refusal, match=r"OpenClaw did not answer within 0\.05 s"):
        verifier.run()
    verifier.bench.close_now()


def test_an_error_of_the_program_keeps_its_first_line(agreeing: Host, host: Host, verify: Verify) -> None:
    trace = "\\n".join(
        ["node:internal/modules:1", "SyntaxError: Unexpected token", *["    at a (b:1:2)"] * 9]
    )
    host(f"#!/bin/sh\nprintf '{trace}\\n' >&2\nexit 1\n")
    done = verify("--yes")
    assert done.code == 1
    assert "SyntaxError: Unexpected token / " in done.err


def test_a_project_without_agent_has_no_hooks_to_compare(verify: Verify, workspace: Path) -> None:
    module = workspace / "node_modules/eve/dist/src/discover/discover-agent.js"
    module.parent.mkdir(parents=True)
    module.write_text(
        'import { readdirSync } from "node:fs";\n'
        "export async function discoverAgent({ agentRoot }) { return { names: readdirSync(agentRoot) }; }\n"
    )
    package = {"name": "eve", "version": "0.80.1", "type": "module"}
    (workspace / "node_modules/eve/package.json").write_text(json.dumps(package))
    (workspace / "package.json").write_text('{"dependencies": {"eve": "0.80.1"}}')
    done = verify("--yes", "--json", before=("--dialect", "eve@0.80"))
    assert (done.code, done.json["summary"]) == (0, "no hooks to compare"), done.err


@pytest.fixture
def with_plugin(agreeing: Host, home: Path) -> None:
    """A plugin whose code registers a hook of a folder event, and that lacks a package."""
    folder = home / ".openclaw/extensions/p"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text('{"id": "p", "configSchema": {}}')
    package = {"openclaw": {"extensions": ["./index.js"]}, "dependencies": {"absent-package": "1"}}
    (folder / "package.json").write_text(json.dumps(package))
    call = 'api.registerHook("command:new", () => {}, { name: "of-code" });'
    (folder / "index.js").write_text(f"export default {{ register(api) {{ {call} }} }};\n")


PLUGIN = {"id": "p", "enabled": True, "dependencyStatus": {"missing": ["absent-package"]}}
OF_CODE = {"name": "of-code", "pluginId": "p", "events": ["command:new"], "loadable": True}


@pytest.mark.parametrize(
    ("plugin", "of_code", "differing"),
    [
        ({}, {}, []),
        ({"enabled": False, "error": "tired"}, {}, [("result", "on", "tired")]),
        ({"dependencyStatus": {"missing": []}}, {}, [("packages", "missing absent-package", "installed")]),
        ({}, {"events": ["command:stop"]}, [("hooks of its code", "command:new", "command:stop")]),
    ],
)
def test_verify_compares_plugins_and_the_hooks_that_their_code_registers(
    agreeing: Host,
    with_plugin: None,
    verify: Verify,
    host: Host,
    tmp_path: Path,
    plugin: dict[str, Any],
    of_code: dict[str, Any],
    differing: list[tuple[str, str, str]],
) -> None:
    agreeing()
    listed = json.loads((tmp_path / "package/list.json").read_text())
    listed["hooks"].append({**OF_CODE, **of_code})
    host(list=listed, plugins={"plugins": [{**PLUGIN, **plugin}, {"id": "own", "origin": "bundled"}]})
    found = verify("--yes", "--json").json
    assert found["compared"] == 4
    facts = [fact for difference in found["differences"] for fact in difference["facts"]]
    assert [(fact["what"], fact["hookscope"], fact["program"]) for fact in facts] == differing


def test_a_hook_of_a_plugins_code_may_take_a_folders_place_in_the_list_alone(
    agreeing: Host, with_plugin: None, verify: Verify, host: Host, tmp_path: Path
) -> None:
    """Recorded from 2026.3, 2026.6 and 2026.7: both run. Their list also has hooks of workspace plugins."""
    agreeing(wave=None)
    listed = json.loads((tmp_path / "package/list.json").read_text())
    unlisted = {**OF_CODE, "pluginId": "of-the-workspace"}
    listed["hooks"] += [{**OF_CODE, "name": "wave"}, unlisted]
    host(list=listed, plugins={"plugins": [PLUGIN]})
    done = verify("--yes", "--json")
    assert (done.code, done.json["compared"], done.json["not_compared"]) == (0, 3, ["wave"])
    listed["hooks"].append({**unlisted, "name": "tidy"})
    listed["hooks"] = [hook for hook in listed["hooks"] if hook["name"] != "tidy" or "pluginId" in hook]
    host(list=listed, plugins={"plugins": [PLUGIN]})
    text = verify("--yes").out
    assert "the program lists a plugin's hook of that name instead: wave, tidy." in " ".join(text.split())


def test_verify_copies_packages_that_lie_among_hooks(
    agreeing: Host, verify: Verify, host: Host, home: Path
) -> None:
    """A link in their place would be no folder for the host."""
    agreeing()
    for folder in ("hooks/node_modules/deep", "hooks/greet/lib/node_modules/deep"):
        (home / ".openclaw" / folder).mkdir(parents=True)
    host('#!/bin/sh\nfind "$HOME/.openclaw/hooks" -type d -name deep | wc -l >&2\nexit 5\n')
    assert "(exit code 5): 2" in verify("--yes").err
