"""Thirty secrets in a dozen places, and a day's work: no file that was written has one of them.

The secrets are made up, and put together from parts so that no scanner minds.
"""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program
from tests.conftest import MakeHook

PEM = "\n".join(
    (
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAq7Xp2LmZ9vBt4KsW8cYr1NfHj6GdE3Ua5To0wzFakeLineOne",
        "h8JkPqRsTuVwXyZ0123456789AbCdEfGhIjKlMnOpQrStUvWxYzFakeLineTwo000",
        "-----END " + "RSA PRIVATE KEY-----",
    )
)
# Of variables whose names say so; their values do not.
VARIABLES = {
    "MY_API_KEY": "correct-horse-battery-77",
    "DB_PASSWORD": "pa\"ss\\w<o>rd&it's=so",
    "SIGNING_KEY": "plain words with spaces in them",
    "NPM_TOKEN": "tøken-äöü-ß-日本-🔑-end",
    "SESSION_SECRET": "percent%41and+plus/slash?",
    "SERVICE_CREDENTIALS": json.dumps({"user": "svc", "password": "json-inner-pass-5", "port": 8080}),
    "MULTI_LINE_SECRET": "first line of it\nsecond-line-of-it\nthird/line=of&it",
    "WINDOWS_SECRET": "first windows line\r\nsecond windows line",
    "SMTP_PASS": "smtp-pass-word",
    "SENTRY_DSN": "https://0123456789abcdef0123@sentry.example/42",
    "REGISTRY_AUTH": "registryauthvalue",
    "SHORT_PASSWORD": "hunter2",
    "TOKEN_STAGING": "staging-token-value",
    "COOKIE_JAR_COOKIE": "sid=abcdef; theme=dark-blue",
    "SSH_PRIVATE_KEY": PEM,
}
# Of variables with ordinary names; their values look like secrets.
LOOKS = {
    "DEPLOY_A": "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a",
    "DEPLOY_B": "sk" + "-proj-a1B2c3D4e5F6g7H8i9J0",
    "DEPLOY_C": "AKIA" + "IOSFODNN7EXAMPLE",
    "DEPLOY_D": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27u",
    "DEPLOY_E": "xoxb" + "-123456789012-abcdefABCDEF",
    "DEPLOY_F": "github" + "_pat_11ABCDEFG0abcdefghij_KLMNOP",
    "DEPLOY_G": "q7Xp2LmZ9vBt4KsW8cYr1NfHj6GdE3Ua5To0",
}
LISTED = {"CUSTOMER_ID": "customer-of-mine", "TEAM_NAME": "blue whales"}
DOTENV = {"DOTENV_TOKEN": "from-the-dotenv-file", "ENTRY_X": "xapp" + "-1-A0123456789-abcdef"}
SETTINGS = {"gateway": "gateway-token-value", "entry": "entry-env-password"}
CONTEXT = {"pair": "Bearer " + "pair.value.123456", "patched": "patched-value-99"}
ALL = [
    *(value for name, value in (VARIABLES | LOOKS | LISTED | DOTENV).items()),
    *SETTINGS.values(),
    *CONTEXT.values(),
]
ORDINARY = {"DEPLOY_DIR": "/srv/deploy/of/ours", "PORT": "8080", "REGION": "eu-central-1"}

LEAKY = """
    import base64, html, json, os, re, sys, urllib.parse

    def forms(value):
        source = value.encode()
        yield value
        yield json.dumps(value)
        yield json.dumps({"inner": json.dumps({"v": value})})
        yield json.dumps(value, ensure_ascii=False)
        yield repr(value)
        yield html.escape(value)
        yield html.escape(json.dumps(value))
        yield urllib.parse.quote(value)
        yield urllib.parse.quote(value, safe="")
        yield urllib.parse.quote_plus(value)
        yield re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(value))
        yield base64.b64encode(source).decode()
        yield base64.urlsafe_b64encode(b"user:" + source).decode()
        yield base64.encodebytes(b"somebody:" + source).decode()
        yield source.hex()
        yield from value.splitlines()

    def handler(event):
        values = json.loads(open(os.environ["PLANTED"]).read())
        for value in values:
            for form in forms(value):
                event.messages.append("got " + form + " back")
                half = len(form) // 2
                sys.stdout.write("out " + form[:half]); sys.stdout.flush()
                sys.stdout.write(form[half:] + "\\n"); sys.stdout.flush()
            sys.stderr.write("err " + value + "\\n")
        event.context["all"] = ["it is " + value for value in values]
        event.context["headers"] = [["Authorization", values[-2]], ["X-Port", "8080"]]
        event.context["named"] = [{"name": "X-Auth-Token", "value": values[-2]}]
        event.context["changes"] = [{"op": "add", "path": "/auth/token/value", "value": values[-1]}]
        event.context["keys"] = {value: {"deep": [value]} for value in values}
        event.context["pieces"] = [part for value in values for part in (value[:5], value[5:])]
        event.context["bytes"] = [value.encode() for value in values[:1]]
        event.context["where"] = os.environ["DEPLOY_DIR"] + " " + os.environ["REGION"]
        if event.context.get("fail"):
            raise RuntimeError("failed with " + " and ".join(values))
"""


def forms_of(value: str) -> Iterator[str]:
    """What must not be found: how a value, a line of it or a code of it may be written."""
    for text in (value, *value.splitlines()):
        if len(text) < 6 or text.startswith("-----"):
            continue
        quoted = (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text))
        for one in (text, *(printed[1:-1] for printed in quoted)):
            yield from (one, html.escape(one), urllib.parse.quote(one), urllib.parse.quote(one, safe=""))
            yield urllib.parse.quote_plus(one)
            yield re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(one))
    source = value.encode()
    yield from (source.hex(), source.hex().upper())
    for before in range(3):
        code = base64.b64encode(b"\0" * before + source).decode()
        part = code[-(-before * 8 // 6) : (before + len(source)) * 8 // 6]
        if len(part) >= 8:
            middle = part[max(len(part) // 2 - 20, 0) :][
                :40
            ]  # a key begins and ends with what is not a secret
            yield from (middle, middle.replace("+", "-").replace("/", "_"))


def texts_of(file: Path) -> Iterator[bytes]:
    """A file's bytes, and those that it holds in base64."""
    content = file.read_bytes()
    yield content
    for code in re.findall(rb"[A-Za-z0-9+/]{24,}", content):
        yield base64.b64decode(code[: len(code) // 4 * 4])


def leaks_in(folders: list[Path], own: set[Path]) -> list[str]:
    """Files that have a secret, but those that the user wrote."""
    marks = {form.encode(): value for value in ALL for form in forms_of(value)}
    return [
        f"{file.name}: {mark!r}"
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in own and "__pycache__" not in file.parts
        for text in texts_of(file)
        for mark in marks
        if mark in text
    ]


@pytest.fixture
def planted(workspace: Path, home: Path, tmp_path: Path, make_hook: MakeHook) -> dict[str, str]:
    """The environment of the day: hooks, settings and files that hold the secrets are written."""
    make_hook(
        workspace / "hooks",
        "leaky",
        '{openclaw: {events: ["command:new"], requires: {env: [MY_API_KEY, DEPLOY_DIR]}}}',
        LEAKY,
    )
    make_hook(
        workspace / "hooks", "broken", '{openclaw: {events: ["command:reset"]}}', "import os\n"
        "raise ImportError('needs ' + os.environ['MY_API_KEY'])\n",
    )  # fmt: skip
    make_hook(
        workspace / "hooks", "picky", '{openclaw: {events: ["command:stop"]}}', "import os\n"
        "def handler(event): raise ValueError(os.environ['MY_API_KEY'] + str(event.context))\n",
    )  # fmt: skip
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text("mask: [CUSTOMER_ID]\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("mask: [team-name]\n")
    (workspace / ".env").write_text("".join(f"{name}={value}\n" for name, value in DOTENV.items()))
    (home / ".openclaw").mkdir()
    entries = {"leaky": {"enabled": True, "env": {"ENTRY_PASSWORD": SETTINGS["entry"]}}}
    gateway = {"auth": {"token": SETTINGS["gateway"]}}
    settings = {"gateway": gateway, "hooks": {"internal": {"entries": entries}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(settings, indent=2))
    (tmp_path / "planted.json").write_text(json.dumps(ALL))
    return {
        **VARIABLES,
        **LOOKS,
        **LISTED,
        **ORDINARY,
        "PLANTED": str(tmp_path / "planted.json"),
        "HOOKSCOPE_STATE_DIR": str(tmp_path / "state"),
    }


def test_a_day_of_work_writes_no_secret(
    hookscope: Program, planted: dict[str, str], workspace: Path, home: Path, tmp_path: Path, bundled: Path
) -> None:
    assert len(ALL) == 30
    out = tmp_path / "reports"
    out.mkdir()
    own = {file for folder in (workspace, home, tmp_path) for file in folder.rglob("*") if file.is_file()}
    common = ("--bundled", str(bundled))

    def run(*arguments: str, code: int = 0) -> None:
        done = hookscope(*arguments, *common, env=planted)
        assert done.code == code, (arguments, done.err, done.out[-2000:])

    context: dict[str, Any] = {
        "said": ALL,
        "token": CONTEXT["patched"],
        "flags": ["--api-key", CONTEXT["patched"]],
    }
    context["headers"] = [["Authorization", CONTEXT["pair"]]]
    given = json.dumps(context)
    event = ("command:new", "--context", given, "--session", f"agent:{VARIABLES['MY_API_KEY']}")
    run("fire", *event, "--trust", "--save", "day")
    run("fire", "command:new", "--context", json.dumps({**context, "fail": True}), "--trust", code=1)
    run("fire", "command:reset", "--trust", code=1)
    first = workspace / ".hookscope/events/first.yaml"
    first.write_text("event: command:new\ncontext: {a: 1}\n")
    missed = workspace / ".hookscope/events/missed.yaml"
    missed.write_text(
        "event: command:new\nexpect:\n  messages: [nothing]\n  output: {leaky: [nothing]}\n"
        "  context: {where: nothing, all: nothing, keys: {}, headers: 1, bytes: 1}\n"
    )
    files = (str(first), str(missed))
    run("test", str(missed), "--trust", "--junit", str(out / "before.xml"), code=1)
    run("test", *files, "--trust", "--accept", "--junit", str(out / "accepted.xml"))
    run("test", *files, "--trust", "--junit", str(out / "after.xml"))
    assert "${MY_API_KEY}" in first.read_text()
    assert ORDINARY["REGION"] in missed.read_text()
    run("replay", "4", "--trust")
    run("fuzz", "command:stop", "--only", "picky", "--examples", "5", "--seed", "7", "--trust", code=1)
    assert (workspace / ".hookscope/events/fuzz-command-stop-picky.yaml").exists()
    spool = home / ".openclaw/hookscope/events.jsonl"
    spool.parent.mkdir()
    heard = {"tap": 1, "at": "2026-11-20T12:00:00.000Z", "kind": "folder", "key": "command:new", "seq": 1}
    spool.write_text(json.dumps({**heard, "pid": 7, "session": ALL[0], "context": context}) + "\n")
    (real,) = hookscope("tap", "events", "--json", *common, env=planted).json["events"]
    run("tap", "save", real["id"], "real")
    run("tap", "fire", real["id"], "--trust")
    for number in ("1", "2", "3"):
        run("export", number, "--html", str(out / f"run{number}.html"))
    run("export", "--jsonl", str(out / "runs.jsonl"))
    run("lint", "--sarif", str(out / "lint.sarif"), code=1)
    run("disable", "leaky")
    run("enable", "leaky")
    folders = [workspace, home, tmp_path / "state", out]
    settings = home / ".openclaw/openclaw.json"
    # Undo gives back the very bytes of the settings, so it keeps them: for their user alone.
    undo = sorted((tmp_path / "state/undo").glob("*.json"))
    kept = {file for file in undo if json.loads(file.read_bytes())["path"] == str(settings)}
    assert kept
    assert {file.stat().st_mode & 0o777 for file in undo} == {0o600}
    assert leaks_in(folders, {*own, settings, spool} | kept) == []
    written = (out / "runs.jsonl").read_text()
    assert ORDINARY["DEPLOY_DIR"] in written
    assert "${SECRET:MY_API_KEY}" in written
