"""What if, on the command line: what is assumed, that it is said, and that it is never written."""

import json
from pathlib import Path

import pytest
from tests.app.whatif.conftest import Run
from tests.conftest import MakeHook

from hookscope.cli.main import exit_code


def states(run: Run, *options: str) -> dict[str, str]:
    return {hook["name"]: hook["state"] for hook in run("list", "--json", *options).json["hooks"]}


def test_the_service_has_another_environment(run: Run, service: Path, tmp_path: Path) -> None:
    assert states(run) == {"say": "untrusted", "search": "untrusted"}
    assert states(run, "--env-from", "unit:gateway")["search"] == "blocked"
    over = ("--env-from", "unit:gateway", "--path", "+~/.local/bin", "--env", "TOKEN=1")
    assert states(run, *over)["search"] == "untrusted"
    assert states(run, "--path", "/usr/bin")["search"] == "blocked"
    partial = tmp_path / "more.env"
    partial.write_text("TOKEN=\n")
    (gate,) = (
        gate
        for gate in run("info", "search", "--json", "--env-from", str(partial)).json["gates"]
        if gate["passed"] is False and gate["gate"] != "trusted"
    )
    assert (gate["gate"], gate["missing"]) == ("env", ["TOKEN"])


def test_every_report_says_that_it_is_hypothetical(run: Run, service: Path) -> None:
    assumed = ("--os", "darwin", "--env-from", "unit:gateway", "--env", "TOKEN=s3cret")
    for command in (
        *(("list",), ("check",), ("info", "say"), ("plan", "command:new"), ("events",), ("doctor",)),
        *(("fix", "search"), ("lint",), ("compare",), ("fire", "command:new", "--trust")),
    ):
        first = run(*command, *assumed).out.splitlines()[0]
        assert first.startswith("What if: os darwin, environment of unit gateway ("), command
        assert first.endswith("differ), TOKEN set.")
        done = run(*command, *assumed, "--json")
        if isinstance(done.json, dict):
            assert (done.json["assumed"], done.json["what_if"]) == (["env", "os"], first), command
        else:  # a list stays one
            assert first in done.err
        assert "what if" not in run(*command).out.lower(), command


def test_lines_of_json_and_the_host_s_own_words_stay_what_they_are(
    run: Run, service: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = run("fire", "command:new", "--trust", "--json-lines", "--os", "darwin")
    assert all(json.loads(line) for line in done.out.splitlines())
    assert "What if: os darwin." in done.err
    exit_code(["list", "--format", "host", "--json", "--dialect", "openclaw@2026.9", "--os", "darwin"])
    own = capsys.readouterr()
    assert "What if: os darwin." in own.err
    assert "what_if" not in own.out


def test_a_fired_handler_gets_it_and_the_record_says_so(run: Run, service: Path) -> None:
    fired = run("fire", "command:new", "--only", "say", "--trust", "--json", "--env-from", "unit:gateway")
    assert fired.json["messages"] == ["from gateway.service"]
    (kept,) = run("log", "--json").json["runs"]
    assert kept["run"]["assumed"] == ["env"]


def test_what_is_assumed_is_never_written(run: Run, service: Path, home: Path) -> None:
    settings = home / ".openclaw/openclaw.json"
    done = run("disable", "say", "--env-from", "unit:gateway", "--env", "TOKEN=s3cret", "--os", "darwin")
    assert done.code == 0
    assert f"Despite the what-if, {settings} was really written." in done.err
    assert json.loads(settings.read_text())["hooks"]["internal"]["entries"] == {"say": {"enabled": False}}
    dry = run("enable", "say", "--os", "darwin", "--dry-run")
    assert "really written" not in dry.err
    given = ("fix", "search", "--value", "TOKEN=mine", "--apply", "--env-from", "unit:gateway")
    mended = run(*given)
    assert "really written" in mended.err
    text = settings.read_text()
    assert '"mine"' in text
    assert "s3cret" not in text
    assert "GREETING" not in text
    assert "darwin" not in text
    assert "what_if" not in run("list", "--json").json


def test_a_service_of_another_user_reads_other_settings(run: Run, service: Path, tmp_path: Path) -> None:
    other = tmp_path / "bot"
    (other / ".openclaw").mkdir(parents=True)
    text = '{"hooks": {"internal": {"entries": {"say": {"enabled": false}}}}}'
    (other / ".openclaw/openclaw.json").write_text(text)
    captured = tmp_path / "captured"
    captured.write_bytes(b"PATH=/bin\0HOME=" + str(other).encode() + b"\0")
    assert states(run, "--env-from", str(captured))["say"] == "off"


def test_agents_are_those_of_the_settings(
    home: Path, tmp_path: Path, make_hook: MakeHook, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".openclaw").mkdir()
    listed = [{"id": "main"}, {"id": "ops", "workspace": str(tmp_path / "ops")}]
    (home / ".openclaw/openclaw.json").write_text(json.dumps({"agents": {"list": listed}}))
    make_hook(tmp_path / "ops/hooks", "watch", "{openclaw: {events: [command:new]}}")
    given = ["list", "--json", "--dialect", "openclaw@2026.9", "--agent"]
    assert exit_code([*given, "ops"]) == 0
    assert "watch" in [hook["name"] for hook in json.loads(capsys.readouterr().out)["hooks"]]
    assert exit_code([*given, "opps"]) == 2
    assert "no agent 'opps'. Did you mean ops?" in capsys.readouterr().err
    assert exit_code(["list", "--dialect", "openclaw", "--agent", "ops"]) == 2
    assert "The dialect openclaw has no agents." in capsys.readouterr().err


def test_here_and_the_service(run: Run, service: Path, home: Path) -> None:
    done = run("compare", "--surroundings", "unit:gateway")
    assert done.code == 1
    for part in (
        "zzfind is ~/.local/bin/zzfind here; none of the 2 folders of PATH in unit gateway.service has it",
        "TOKEN is set here but not in unit gateway.service",
        "→ put ~/.local/bin on PATH in unit gateway.service",
        "`hookscope fix search --gate env`",
        "PATH has ~/.local/bin here only: stops search",
        "`systemctl --user edit gateway.service`, under [Service]",
        f"    Environment=PATH=/usr/bin:/bin:{home}/.local/bin",
        "    Environment=TOKEN=…",
        "1 alike, 1 different",
    ):
        assert part in done.out, done.out
    assert "s3cret" not in done.out + done.err


def test_the_line_that_is_proposed_mends_the_service(run: Run, service: Path) -> None:
    answer = run("compare", "--surroundings", "here,unit:gateway", "--json").json
    (remedy,) = answer["remedies"]
    more = service.with_name("gateway.service.d")
    more.mkdir()
    lines = [line.replace("…", "1") for line in remedy["lines"]]
    (more / "override.conf").write_text("\n".join(["[Service]", *lines, ""]))
    again = run("compare", "search", "--surroundings", "here,unit:gateway", "--json")
    assert again.code == 0
    assert again.json["remedies"] == []
    assert again.json["hooks"][0]["differs"] == []


def test_one_document(run: Run, service: Path) -> None:
    answer = run("compare", "--surroundings", "clean,unit:gateway,here", "--different", "--json").json
    assert [side["name"] for side in answer["surroundings"]] == ["clean", "unit gateway.service", "here"]
    (hook,) = answer["hooks"]
    assert {name: cell["state"] for name, cell in hook["by"].items()} == {
        "clean": "blocked", "unit gateway.service": "blocked", "here": "ready",
    }  # fmt: skip
    assert {one["what"] for one in hook["differs"]} >= {"state", "program", "variable"}
    variables = [cause for cause in answer["causes"] if cause["what"] == "variable"]
    assert variables == [{"what": "variable", "text": "TOKEN is set here only", "hooks": ["search"]}]
    assert {one["surroundings"] for one in answer["remedies"]} == {"clean", "unit gateway.service"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--surroundings", " , "], "names no machine"),
        (["--surroundings", "here"], "needs a machine besides"),
        (["--surroundings", "unit:gatway"], "Did you mean unit:gateway?"),
        (["--surroundings", "clean", "--shipped"], "one host"),
        (["--surroundings", "clean", "--fire", "command:new"], "cannot fire events"),
    ],
)
def test_wrong_use(run: Run, service: Path, given: list[str], sentence: str) -> None:
    done = run("compare", *given)
    assert done.code == 2
    assert sentence in done.err
