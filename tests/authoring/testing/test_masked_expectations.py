"""What a run did, accepted: secrets become variables' names or `*`, and the test passes when run again."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import MakeHook

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.acceptance import accept, expectation_masking_of
from hookscope.authoring.testing.sequences import run_test_file
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.formats.yaml12 import read_yaml

HANDLER = """
import base64, json, os
def handler(event):
    key = os.environ["MY_API_KEY"]
    event.messages += [
        f"using {key} for {os.environ['DEPLOY_DIR']}",
        f"[1] costs $ {key}*",
        "$" + key,
        "basic " + base64.b64encode(b"me:" + key.encode()).decode(),
        json.dumps({"k": key}),
        "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a",
        "literal ${HOME} and ${now}",
    ]
    event.context["who"] = {"name": "ada", "said": f"<{key}>", "token": "short-1"}
    event.context["list"] = [1, key, "x" + base64.b64encode(key.encode()).decode()]
    event.context["under"] = {key: 1}
    print("out", key)
"""
KEYS = ["correct-horse-battery-77", 'with "quotes" & [wild] * ${cards}', "line one of it\nline two of it"]


@pytest.fixture(params=KEYS, ids=["plain", "signs", "lines"])
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MY_API_KEY", request.param)
    monkeypatch.setenv("DEPLOY_DIR", "/srv/deploy")
    return str(request.param)


def write(file: Path, text: str) -> None:
    file.write_text(text)


def read(file: Path) -> tuple[str, Any]:
    """Its text, and what it expects."""
    source = file.read_bytes()
    document: Any = read_yaml(source)
    return source.decode(), document["expect"]


async def checked(workspace: Path, file: Path, *, accepts: bool = False) -> SavedEventResult:
    bench = Workbench(
        Options(workspace=workspace, bundled=workspace.parent / "none", dialect="openclaw"), trust_all=True
    )
    try:
        item = await run_test_file(bench, file, lambda _: None)
        if accepts:
            hiding = expectation_masking_of(bench)
    finally:
        await bench.close()
    if accepts:
        assert accept(item, masking=hiding)
    return item


@pytest.fixture
def event(workspace: Path, make_hook: MakeHook) -> Path:
    (workspace.parent / "none").mkdir()
    make_hook(workspace / "hooks", "leaky", '{openclaw: {events: ["command:new"]}}', HANDLER)
    (workspace / ".hookscope/events").mkdir(parents=True)
    return workspace / ".hookscope/events/e.yaml"


async def test_accepted_expectations_mask_secrets_and_pass(workspace: Path, event: Path, key: str) -> None:
    write(event, "event: command:new\ncontext: {}\n")
    await checked(workspace, event, accepts=True)
    written, expect = read(event)
    assert all(line not in written for line in key.splitlines())
    messages = expect["messages"]
    assert messages[0] == "using ${MY_API_KEY} for /srv/deploy"
    assert messages[1] == "[[]1] costs $ ${MY_API_KEY}[*]"
    assert messages[2] == "$*"
    assert messages[3] == "basic *"
    assert messages[5] == "*"
    assert messages[6] == "literal $${HOME} and $${now}"
    again = await checked(workspace, event)
    assert again.passed, again.failure_lines


async def test_replaced_expectations_mask_secrets_too(workspace: Path, event: Path, key: str) -> None:
    write(
        event,
        "event: command:new\ncontext: {}\nexpect:\n  context: {who: 1, list: 2, under: 3}\n"
        "  output: {leaky: [nothing]}\n",
    )
    await checked(workspace, event, accepts=True)
    written, expect = read(event)
    assert all(line not in written for line in key.splitlines())
    assert expect["context"] == {
        "who": {"name": "ada", "said": "<${MY_API_KEY}>", "token": "*"},
        "list": [1, "${MY_API_KEY}", "*"],
        "under": "*",
    }
    again = await checked(workspace, event)
    assert again.passed, again.failure_lines


async def test_masked_expectation_matches_another_secret(
    workspace: Path, event: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(event, "event: command:new\ncontext: {}\n")
    await checked(workspace, event, accepts=True)
    monkeypatch.setenv("MY_API_KEY", "rotated-key-of-today")
    again = await checked(workspace, event)
    assert again.passed, again.failure_lines
