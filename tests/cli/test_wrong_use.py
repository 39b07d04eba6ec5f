"""What is typed wrongly: one sentence that names the thing and the next step, exit code 2, one document."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.done import Done

Program = Callable[..., Done]
MakeHook = Callable[..., Path]


@pytest.fixture
def greet(workspace: Path, make_hook: MakeHook) -> Path:
    source = "def handler(event): event.messages.append('Hello')\n"
    events = workspace / ".hookscope/events"
    events.mkdir(parents=True)
    (events / "greet.yaml").write_text("event: command:new\n")
    return make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", source)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("fire command:new --timeout nan", "'nan' is not a valid number of seconds"),
        ("fire command:new --timeout soon", "'soon' is not a valid number of seconds"),
        (
            "fire command:new --json-lines",
            "--json prints one document, --json-lines a line for each step. Take one",
        ),
        (
            "fire command:new --save ../x",
            "../x leads out of .hookscope/events. Name a file, such as ../x.yaml",
        ),
        ("replay last", "'last' is not a valid whole number"),
        ("test gret", "There is no file or folder gret. Did you mean .hookscope/events/greet.yaml?"),
        (
            "test zzz.yaml",
            "There is no file or folder zzz.yaml. `hookscope events --saved` lists saved events",
        ),
        ("tap isntall", "has no 'isntall'; did you mean `hookscope tap install`?"),
        (
            "serve --token-file nothing",
            "Cannot read the token in nothing: no such file or directory. `--token auto`",
        ),
    ],
)
def test_wrong_use_is_told_in_a_sentence(hookscope: Program, greet: Path, typed: str, says: str) -> None:
    done = hookscope(*typed.split(), "--json")
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1
    assert says in " ".join(filter(None, done.json.values()))


def test_who_waits_for_trust_is_told_once_and_is_no_success(hookscope: Program, greet: Path) -> None:
    done = hookscope("fire", "command:new", "--only", "greet")
    assert done.code == 1
    assert done.err.count("trust ./hooks`") == 1
    assert "✓" not in done.out.splitlines()[0]


def test_what_was_on_already_is_told_with_what_still_stops_it(hookscope: Program, greet: Path) -> None:
    assert hookscope("enable", "greet").code == 0
    said = hookscope("enable", "greet").out
    assert "greet is on already, but still untrusted: `hookscope trust ./hooks` allows it to run" in said


def test_asking_what_undo_would_do_forgets_nothing(hookscope: Program, workspace: Path, home: Path) -> None:
    hookscope("enable", "boot-md")
    hookscope("new", "greet")
    (workspace / "hooks/greet/handler.py").write_text("def handler(event): pass\n")
    for _ in range(2):
        asked = hookscope("undo", "--dry-run")
        assert asked.code == 1
        assert "`hookscope undo` forgets it" in asked.err
    assert "It is forgotten" in hookscope("undo").err
    assert "Taken back: hooks.internal.entries.boot-md.enabled: true" in hookscope("undo").out


@pytest.mark.parametrize(
    "typed",
    [
        "export 1 --failed --jsonl runs.jsonl",
        "test --accept --watch",
        "log --from runs.jsonl --follow",
        "log --from nothing.jsonl",
        "fire command:new --context @nothing.json",
        "play --script nothing.yaml",
        "lint --sarif nothing/findings.sarif",
        "test --junit nothing/report.xml",
        "test broken.yaml",
    ],
)
def test_the_next_step_is_told_too(hookscope: Program, greet: Path, typed: str) -> None:
    (greet / "broken.yaml").write_text("event: [")
    done = hookscope(*typed.split(), "--json")
    assert done.code == 2
    assert done.json["next"]
    assert done.err.endswith(f"{done.json['next']}\n")
