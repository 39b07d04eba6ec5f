"""What is typed wrongly: one sentence that names the thing and the next step, exit code 2, one document."""

import shutil
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
            "--json prints one document, --json-lines a line for each step. Use one of them",
        ),
        (
            "fire command:new --save ../x",
            "../x leads outside .hookscope/events. Name a file, such as ../x.yaml",
        ),
        ("replay last", "'last' is not a valid whole number"),
        ("test gret", "There is no file or folder gret. Did you mean .hookscope/events/greet.yaml?"),
        (
            "test zzz.yaml",
            "There is no file or folder zzz.yaml. `hookscope events --saved` lists saved events",
        ),
        ("fire command:new --only greet --only other", "--only takes one hook, not greet and other. Fire"),
        ("replay --only a --only b", "--only takes one hook, not a and b. Fire once for each"),
        ("fuzz command:new --only a --only b", "--only takes one hook, not a and b"),
        ("test --junit -", "standard output is already used for the answer; name a file"),
        ("lint --sarif -", "standard output is already used for the answer; name a file"),
        ("check --eligible", "--eligible is the host's own flag; add `--format host`"),
        (
            "compare --surroundings clean --fire command:new",
            "--surroundings cannot fire events. `hookscope fire KEY --env-from SOURCE` fires",
        ),
        ("compare --surroundings clean --trust", "--surroundings cannot fire events"),
        ("tap isntall", "has no command 'isntall'; did you mean `hookscope tap install`?"),
        (
            "serve --token-file nothing",
            "Cannot read the token in nothing: no such file or directory. `--token auto`",
        ),
    ],
)
def test_wrong_use_is_explained_in_one_sentence(
    hookscope: Program, greet: Path, typed: str, says: str
) -> None:
    done = hookscope(*typed.split(), "--json")
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1
    assert says in " ".join(filter(None, done.json.values()))


def test_an_unknown_dialect_names_the_file_that_sets_it(hookscope: Program, workspace: Path) -> None:
    (workspace / ".hookscope").mkdir()
    (workspace / ".hookscope/config.yaml").write_text("dialect: openclav\n")
    done = hookscope("list", "--json")
    said = "`dialect:` in .hookscope/config.yaml: There is no dialect 'openclav'; did you mean openclaw?"
    assert (done.code, done.err) == (2, f"hookscope: {said}\n")
    assert "`dialect:`" not in hookscope("list", "--dialect", "openclav").err


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("greet", "greet is a hook, but only folders can be trusted. `hookscope trust ./hooks` trusts"),
        (
            "hooks/greet/handler.py",
            "is a file, but only folders can be trusted. `hookscope trust ./hooks/greet`",
        ),
        ("nothing", "nothing. `hookscope list` shows where hooks are."),
    ],
)
def test_trust_refuses_a_file(hookscope: Program, greet: Path, named: str, says: str) -> None:
    done = hookscope("trust", named)
    assert (done.code, says in done.err) == (1, True), done.err
    assert hookscope("info", "greet", "--json").json["state"] == "untrusted"


def test_fire_names_untrusted_folders_once_and_fails(hookscope: Program, greet: Path) -> None:
    done = hookscope("fire", "command:new", "--only", "greet")
    assert done.code == 1
    assert done.err.count("trust ./hooks`") == 1
    assert "✓" not in done.out.splitlines()[0]


def test_enable_of_an_enabled_hook_names_the_gates_that_still_fail(hookscope: Program, greet: Path) -> None:
    assert hookscope("enable", "greet").code == 0
    said = hookscope("enable", "greet").out
    assert "greet is already on, but still untrusted: `hookscope trust ./hooks` allows it to run" in said


def test_an_impossible_undo_can_be_repeated_later(hookscope: Program, workspace: Path, home: Path) -> None:
    hookscope("enable", "boot-md")
    hookscope("new", "greet")
    handler = workspace / "hooks/greet/handler.py"
    before = handler.read_bytes()
    handler.write_text("def handler(event): pass\n")
    for how in ((), ("--dry-run",), ("--keep-later",), ()):
        refused = hookscope("undo", *how)
        assert refused.code == 1
        assert "handler.py has changed since that edit; nothing was undone" in refused.err
        assert "Restore it and undo again; or `hookscope undo --forget` discards this edit" in refused.err
    handler.write_bytes(before)
    assert "Undone: new hook greet" in hookscope("undo").out
    assert not handler.exists()
    assert "Undone: hooks.internal.entries.boot-md.enabled: true" in hookscope("undo").out


def test_an_impossible_undo_can_be_dropped(hookscope: Program, workspace: Path, home: Path) -> None:
    hookscope("enable", "boot-md")
    hookscope("new", "greet")
    handler = workspace / "hooks/greet/handler.py"
    handler.write_text("def handler(event): pass\n")
    asked = hookscope("undo", "--forget", "--dry-run")
    assert (asked.code, "Would be forgotten: new hook greet" in asked.out) == (0, True)
    told = hookscope("undo", "--forget", "--json").json
    assert (told["meaning"], told["written"], told["forgotten"]) == ("new hook greet", False, True)
    assert handler.read_text() == "def handler(event): pass\n"
    assert "Undone: hooks.internal.entries.boot-md.enabled: true" in hookscope("undo").out
    nothing = hookscope("undo", "--forget")
    assert (nothing.code, "There is nothing to undo." in nothing.err) == (1, True)
    assert hookscope("undo", "--forget", "--keep-later").code == 2


def test_undo_of_a_new_hook_whose_files_are_gone_has_nothing_to_do(
    hookscope: Program, workspace: Path
) -> None:
    hookscope("new", "greet")
    shutil.rmtree(workspace / "hooks/greet")
    (workspace / ".hookscope/events/greet.yaml").unlink()
    refused = hookscope("undo")
    assert refused.code == 1
    assert "no longer contains the last change (new hook greet)" in refused.err


def test_an_unreadable_undo_record_is_named_and_skipped(
    hookscope: Program, workspace: Path, tmp_path: Path
) -> None:
    for name in ("older", "newer"):
        hookscope("new", name)
    newest = max((tmp_path / "state/undo").glob("*.json"), key=lambda file: int(file.stem))
    newest.write_text("{")
    said = f"{newest} cannot be read, so its edit cannot be undone"
    asked = hookscope("undo", "--dry-run", "--json")
    assert said in asked.err
    assert (asked.json["meaning"], asked.json["unreadable"]) == ("undo: new hook older", [str(newest)])
    done = hookscope("undo")
    assert said in done.err
    assert "Undone: new hook older" in done.out
    assert not (workspace / "hooks/older").exists()
    nothing = hookscope("undo")
    assert nothing.code == 1
    assert "There is nothing to undo." in nothing.err
    assert said in nothing.err


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
def test_wrong_use_names_the_next_step(hookscope: Program, greet: Path, typed: str) -> None:
    (greet / "broken.yaml").write_text("event: [")
    done = hookscope(*typed.split(), "--json")
    assert done.code == 2
    assert done.json["next"]
    assert done.err.endswith(f"{done.json['next']}\n")
