"""Where an environment comes from: files, units, jobs, processes; and what is said where it cannot."""

import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookscope.app.whatif import source_lookup
from hookscope.app.whatif.assumptions import environment_source
from hookscope.app.whatif.source_lookup import EnvironmentSource, process_names, variables_of_ps
from hookscope.model.failure import Refusal
from hookscope.model.machine import real_machine

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")


def source(text: str) -> EnvironmentSource:
    return environment_source(text, real_machine())


def refused(text: str) -> str:
    with pytest.raises(Refusal) as raised:
        source(text)
    assert raised.value.code == 2
    return str(raised.value)


def test_a_unit_with_drop_ins_and_files(units: Path, home: Path) -> None:
    (units / "gateway@.service").write_text(
        "[Service]\nEnvironment=HOME=%h A=1 B=2 GONE=x\nEnvironment=NAME=%n INSTANCE=%i ME=%u ODD=%q\n"
        "EnvironmentFile=%h/conf/*.env\nEnvironmentFile=-%h/none.env\nEnvironmentFile=%h/missing.env\n"
        "EnvironmentFile=relative.env\nWorkingDirectory=-/srv\n[Install]\nEnvironment=NOT=this\n"
    )
    for owner, name, text in (
        (
            "gateway@main.service",
            "20-own.conf",
            "UnsetEnvironment=GONE A=other\nEnvironment=B=3 =x TOKEN=s3cret part",
        ),
        ("gateway@.service", "10-template.conf", "Environment=B=9 T=1"),
        ("service", "30-all.conf", "Environment=ALL=1"),
        ("other.service", "10-other.conf", "Environment=A=no"),
    ):
        (units / f"{owner}.d").mkdir()
        (units / f"{owner}.d" / name).write_text(f"[Service]\n{text}\n")
    (home / "conf").mkdir()
    (home / "conf/b.env").write_text("A=from file # all of it\n")
    found = source("unit:gateway@main")
    env = found.env
    assert (env["A"], env["B"], env["T"], env["ALL"]) == ("from file # all of it", "3", "1", "1")
    assert (env["NAME"], env["INSTANCE"], env["ODD"]) == ("gateway@main.service", "main", "%q")
    assert "GONE" not in env
    assert "NOT" not in env
    assert "PATH" in env
    assert env["HOME"] == str(home)
    assert found.home == home
    said = " ".join(found.notes)
    for part in (
        "missing.env does not exist: the service would not start",
        "relative.env is not an absolute path",
        "runs in /srv",
        "The specifier %q is unknown",
        "a word that is not NAME=value",
    ):
        assert part in said
    assert "none.env" not in said
    assert "s3cret" not in said
    assert "part" not in said
    names = [file.name for file in found.files]
    assert names == ["gateway@.service", "10-template.conf", "20-own.conf", "30-all.conf", "b.env"]


def test_an_empty_assignment_begins_a_list_anew(units: Path) -> None:
    unit = units / "a.service"
    unit.write_text(
        "[Service]\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2\nEnvironmentFile=/x\nEnvironmentFile=\n"
    )
    found = source(str(unit))
    assert "A" not in found.env
    assert found.env["B"] == "2"
    assert not any("/x" in note for note in found.notes)


def test_a_unit_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, units: Path) -> None:
    folder = tmp_path / "system"
    folder.mkdir()
    monkeypatch.setattr("hookscope.app.whatif.systemd.SYSTEM_UNITS", (str(folder),))
    (folder / "bot.service").write_text("[Service]\nUser=root\nPassEnvironment=LANG\nEnvironment=H=%h:%S\n")
    found = source("unit:bot.service")
    assert not found.is_user_unit
    assert found.env["H"] == "/root:/var/lib"
    assert found.env["USER"] == "root"
    assert "TOKEN" not in found.env
    assert any("system manager's values are unknown: LANG" in note for note in found.notes)
    (folder / "masked.service").symlink_to(os.devnull)
    assert "masked" in refused("unit:masked")
    (units / "bot.service").write_text("[Service]\nEnvironment=MINE=1\n")
    own = source("unit:bot")
    assert own.env["MINE"] == "1"
    assert str(folder / "bot.service") in own.notes[0]
    assert "Did you mean unit:bot?" in refused("unit:bott")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("unit:", "has no name after the colon"),
        ("unit:a/b", "not the name of a unit"),
        ("unit:zz", "There is no unit zz.service. Looked in"),
        ("launchd:zz", "There is no launchd job 'zz'. Looked in ~/Library/LaunchAgents"),
        ("pid:12x", "not a process number"),
        ("process:zz-nobody-is-called-so", "No process is called"),
        ("nowhere.env", "There is no file"),
        (".", "is not a file"),
        ("a\0b", "There is no file"),
    ],
)
def test_what_is_not_there_is_a_sentence(text: str, sentence: str, home: Path) -> None:
    assert sentence in refused(text)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "all").write_bytes(b"PATH=/bin\0HOME=/srv/bot\0A=x\ny\0")
    whole = source(str(tmp_path / "all"))
    assert whole.replaces_all
    assert whole.home == Path("/srv/bot")
    assert whole.env["A"] == "x\ny"
    (tmp_path / "some").write_text("A=1\n")
    assert not source(str(tmp_path / "some")).replaces_all
    (tmp_path / "none").write_text("no assignment")
    assert "sets no variable" in refused(str(tmp_path / "none"))
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refused(str(tmp_path / "pipe"))


def test_a_launchd_job(home: Path) -> None:
    agents = home / "Library/LaunchAgents"
    agents.mkdir(parents=True)
    job = {"Label": "ai.gateway", "EnvironmentVariables": {"A": "1"}, "WorkingDirectory": "/w"}
    (agents / "ai.gateway.plist").write_bytes(plistlib.dumps(job))
    found = source("launchd:ai.gateway")
    assert found.env["PATH"] == "/usr/bin:/bin:/usr/sbin:/sbin"
    assert found.env["A"] == "1"
    assert found.env["HOME"] == str(home)
    assert "runs in /w" in found.notes[0]
    assert "Did you mean launchd:ai.gateway?" in refused("launchd:ai.gatewy")
    (agents / "bad.plist").write_text("<plist>")
    assert "no property list" in refused(str(agents / "bad.plist"))


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with an environment and a name of its own, that has begun."""
    script = tmp_path / "zzgateway.py"
    script.write_text("import sys\nprint('up', flush=True)\nsys.stdin.read()\n")
    env = {"PATH": "/usr/bin", "HOME": "/srv", "A": "x=y"}
    arguments = [sys.executable, str(script)]
    with subprocess.Popen(arguments, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"up\n"
        yield process
        process.stdin.close()


@LINUX
def test_a_running_process(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    by_number = source(f"pid:{sleeper.pid}")
    assert by_number.env["A"] == "x=y"
    assert by_number.home == Path("/srv")
    assert source("process:zzgateway").description == f"process zzgateway ({sleeper.pid})"
    assert "Did you mean zzgateway" in refused("process:zzgatewy")
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "zzgateway.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        assert "2 processes are called zzgateway" in refused("process:zzgateway")
        other.stdin.close()


@LINUX
def test_a_process_that_is_not_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_lookup, "PROC", tmp_path)
    assert "There is no process 77" in refused("pid:77")
    (tmp_path / "77").mkdir()
    (tmp_path / "77/environ").write_bytes(b"")
    assert "has no readable environment" in refused("pid:77")
    if os.geteuid():
        (tmp_path / "77/environ").chmod(0)
        assert "belongs to another user" in refused("pid:77")


def test_what_ps_prints() -> None:
    told = "/opt/node /srv/gateway.mjs --port=1 PATH=/a:/b TITLE=two words HOME=/Users/me\n"
    assert variables_of_ps(told) == {"PATH": "/a:/b", "TITLE": "two words", "HOME": "/Users/me"}
    assert process_names(["/opt/node", "--x", "/srv/gateway.mjs", "run"]) == {
        "node",
        "gateway.mjs",
        "gateway",
    }
    assert process_names(["/opt/vi", "a.txt"]) == {"vi"}
