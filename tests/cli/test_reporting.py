"""`hookscope report`: a bundle for a problem report that holds no secret."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

from tests.cli.conftest import Program
from tests.conftest import MakeHook

SECRET = "tok-5f3a9c2b7d1e4f60"
SPELT = "sk-proj-9f8e7d6c5b4a39281706"


def texts(bundle: Path) -> dict[str, str]:
    with ZipFile(bundle) as files:
        return {name: files.read(name).decode() for name in files.namelist()}


def test_a_report_contains_the_answers_and_no_secret(
    hookscope: Program, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", f'{{openclaw: {{events: ["command:{SPELT}"]}}}}', "")
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir(exist_ok=True)
    entry = {"env": {"MY_API_KEY": SECRET, "NOTE": f"use {SPELT}"}}
    text = json.dumps(
        {"gateway": {"auth": {"token": SECRET}}, "hooks": {"internal": {"entries": {"g": entry}}}}
    )
    settings.write_text(f"// old key: {SPELT}\n{text}")
    done = hookscope("report", "trouble.zip", "--json", env={"SLACK_TOKEN": SECRET})
    assert done.code == 0, done.err
    found = texts(workspace / "trouble.zip")
    assert [*found] == done.json["contents"]
    assert [*found] == ["README.txt", "versions.json", "list.json", "doctor.json", "settings.txt"]
    assert json.loads(found["list.json"])["hooks"][0]["name"] == "greet"
    assert "${SECRET:" in found["settings.txt"]
    for text in found.values():
        assert SECRET not in text
        assert SPELT not in text
        assert str(home) not in text
    assert (workspace / "trouble.zip").stat().st_mode & 0o077 == 0


def test_a_report_of_unreadable_settings_contains_no_secret(
    hookscope: Program, home: Path, workspace: Path
) -> None:
    settings = home / ".openclaw" / "openclaw.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(f'{{"token": "{SPELT}", broken')
    assert hookscope("report").code == 0
    assert SPELT not in "".join(texts(workspace / "hookscope-report.zip").values())


def test_report_does_not_replace_an_existing_file(hookscope: Program, workspace: Path) -> None:
    (workspace / "kept.zip").write_text("mine")
    done = hookscope("report", "kept.zip")
    assert done.code == 1
    assert "exists" in done.err
    assert (workspace / "kept.zip").read_text() == "mine"


def test_report_starts_the_host_only_with_consent(hookscope: Program, workspace: Path) -> None:
    done = hookscope("--dialect", "openclaw@2026.9", "report", "--verify")
    assert done.code == 1
    assert not (workspace / "hookscope-report.zip").exists()
