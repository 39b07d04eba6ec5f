"""Does it matter in which order handlers run, from outside: who disturbs whom, in how many fires."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook
    from tests.done import Done

COMMAND = "{openclaw: {events: [command]}}"
HANDLERS = {
    "auth": "def handler(event): event.context['user'] = 'ada'",
    "greet": "def handler(event): event.messages.append('hello ' + event.context['user'])",
    "late": "def handler(event): event.context['topic'] = 'late'",
    "tag": "def handler(event): event.context['topic'] = 'tag'",
}
NEEDS = "greet fails (KeyError: 'user') unless auth runs before it."
WINS = "late and tag both write context.topic: the last write wins."


@pytest.fixture
def scope(hookscope: Program, bundled: Path) -> Program:
    """The program with nothing but the hooks of the workspace, all of them trusted."""

    def run(command: str, *arguments: str, **more: Any) -> Done:
        return hookscope("--bundled", str(bundled), command, "--trust", *arguments, **more)

    return run


@pytest.fixture
def four(workspace: Path, make_hook: MakeHook) -> None:
    for name, source in HANDLERS.items():
        make_hook(workspace / "hooks", name, COMMAND, source)


@pytest.mark.usefixtures("four")
def test_shuffle_reports_interference_with_two_example_runs(scope: Program, hookscope: Program) -> None:
    shown = scope("fire", "command:new", "--repeat", "40", "--shuffle")
    assert shown.code == 1  # a handler failed, as with any other fire
    assert "The order matters: 2 findings in all 24 orders of 4 handlers." in shown.out
    assert "registered: auth, greet, late, tag" in shown.out
    for sentence in (NEEDS, WINS):
        assert sentence in shown.out
    done = scope("fire", "command:new", "--repeat", "40", "--shuffle", "--json").json
    told = done["shuffled"]
    assert (told["handlers"], told["orders"]) == (list(HANDLERS), {"possible": 24, "tried": 24})
    assert len(done["runs"]) == told["done"] <= told["times"] == 40
    assert (told["matters"], told["left"], told["unsteady"]) == (True, [], [])
    needs, wins = told["findings"]
    assert (needs["sentence"], wins["sentence"]) == (NEEDS, WINS)
    assert (needs["handlers"], needs["company"], needs["narrowed"]) == (["auth", "greet"], [], True)
    assert (needs["kind"], needs["hook"], needs["registered"]) == ("ended", "greet", "ok")
    assert needs["exchanged"] == "KeyError: 'user'"
    assert (wins["place"], wins["registered"], wins["exchanged"]) == ("/context/topic", "tag", "late")
    assert [run["order"] for run in needs["runs"].values()] == [["auth", "greet"], ["greet", "auth"]]
    kept = hookscope("log", str(needs["runs"]["exchanged"]["id"])).out
    assert "note: called in another order than the registered one: greet, auth" in kept
    assert "skipped: only greet and auth were called, to see which handlers interfere" in kept


@pytest.mark.usefixtures("four")
def test_shuffle_fires_the_requested_number_of_orders_and_counts_the_rest(scope: Program) -> None:
    done = scope("fire", "command:new", "--repeat", "8", "--shuffle", "--seed", "7", "--json").json
    again = scope("fire", "command:new", "--repeat", "8", "--shuffle", "--seed", "7", "--json").json
    assert len(done["runs"]) == 8
    orders = [[result["hook"] for result in run["results"]] for run in done["runs"]]
    assert orders == [[result["hook"] for result in run["results"]] for run in again["runs"]]
    (left,) = done["shuffled"]["left"]
    assert left["sentence"].startswith("context.topic differs between run 2 and run 3; there were")
    assert left["runs"] == [2, 3]
    shown = scope("fire", "command:new", "--repeat", "8", "--shuffle", "--seed", "7").out
    assert "there were not enough runs to explain why" in shown
    assert "--seed 7 repeats them" in shown


@pytest.mark.usefixtures("four")
def test_shuffle_says_if_the_order_does_not_matter(scope: Program) -> None:
    apart = ("--except", "auth", "--except", "greet", "--except", "late")
    alone = scope("fire", "command:new", "--repeat", "9", "--shuffle", *apart)
    assert (alone.code, alone.out) == (1, "")
    assert "There is nothing to shuffle: only tag runs for command:new." in alone.err
    done = scope("fire", "command:new", "--repeat", "9", "--shuffle", "--except", "auth", "--except", "late")
    assert "The order does not matter: all 2 orders of 2 handlers gave the same result." in done.out
    assert "as registered:" in done.out  # greet fails there


@pytest.mark.usefixtures("four")
def test_shuffle_without_trusted_hooks_names_the_trust_command(hookscope: Program, bundled: Path) -> None:
    done = hookscope("--bundled", str(bundled), "fire", "command:new", "--repeat", "9", "--shuffle")
    assert (done.code, done.out) == (1, "")
    assert "no handler runs for command:new" in done.err
    assert "is not trusted: `hookscope trust" in done.err


def test_shuffle_in_a_sandbox_restores_files_before_each_fire(
    scope: Program, workspace: Path, make_hook: MakeHook, home: Path
) -> None:
    head = "import os\nfrom pathlib import Path\nat = Path(os.environ['HOME'], 'key')\n"
    make_hook(workspace / "hooks", "a", COMMAND, f"{head}def handler(event): at.write_text('1')")
    make_hook(workspace / "hooks", "b", COMMAND, f"{head}def handler(event): at.read_text()")
    copies = scope("fire", "command:new", "--repeat", "9", "--shuffle", "--sandbox")
    assert "b fails (FileNotFoundError: " in copies.out
    assert " unless a runs before it." in copies.out
    assert not (home / "key").exists()
    (home / "key").write_text("1")
    here = scope("fire", "command:new", "--repeat", "9", "--shuffle")
    assert "The order does not matter" in here.out
    assert "with --sandbox each run starts with new copies" in here.out


def test_shuffle_in_a_sandbox_compares_files(
    scope: Program, workspace: Path, make_hook: MakeHook, home: Path
) -> None:
    (home / "notes").write_text("begin\n")
    for name in "ab":
        source = f"""
            import os

            def handler(event):
                with open(os.path.join(os.environ["HOME"], "notes"), "a") as notes:
                    notes.write("{name}\\n")
            """
        make_hook(workspace / "hooks", name, COMMAND, source)
    done = scope("fire", "command:new", "--repeat", "9", "--shuffle", "--sandbox")
    registered, exchanged = "changed, 10 bytes: +a, +b", "changed, 10 bytes: +b, +a"
    said = f"The file {home}/notes is {registered} when a runs before b, else {exchanged}."
    assert said in done.out
    assert (home / "notes").read_text() == "begin\n"


def test_differences_within_one_order_are_excluded(
    scope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    source = "n = []\ndef handler(event): n.append(0); event.messages.append(str(len(n)))"
    make_hook(workspace / "hooks", "a", COMMAND, source)
    make_hook(workspace / "hooks", "b", COMMAND)
    told = scope("fire", "command:new", "--repeat", "9", "--shuffle", "--json").json["shuffled"]
    assert (told["matters"], told["done"], told["unsteady"]) == (False, 3, ["the messages of a"])


def test_a_plugin_that_ends_an_event_keeps_others_from_running(
    hookscope: Program, workspace: Path, bundled: Path
) -> None:
    answers = {"guard": "{'block': True, 'blockReason': 'no'}", "notes": "None"}
    for name, answer in answers.items():
        folder = workspace / "plugins" / name
        folder.mkdir(parents=True)
        (folder / "plugin.py").write_text(
            f"def answer(event, ctx):\n    return {answer}\n\n"
            "def register(api):\n    api.on('before_tool_call', answer)\n    api.on('agent_end', answer)\n"
        )
    where = ("--dialect", "openclaw", "--bundled", str(bundled), "fire", "--trust")
    shown = hookscope(*where, "before_tool_call", "--repeat", "9", "--shuffle").out
    assert "notes does not run (an earlier handler ended the event) when guard runs before it." in shown
    observers = hookscope(*where, "agent_end", "--repeat", "9", "--shuffle")
    assert (observers.code, "2 handlers start at once" in observers.err) == (1, True)


@pytest.mark.usefixtures("four")
def test_shuffle_refuses_wrong_options_before_anything_is_fired(scope: Program, hookscope: Program) -> None:
    for wrong in (["--shuffle"], ["--repeat", "3", "--shuffle"], ["--repeat", "9", "--seed", "1"]):
        assert scope("fire", "command:new", *wrong).code == 2
    assert "Nothing was fired" in hookscope("log").out
    lines = scope("fire", "command:new", "--repeat", "9", "--shuffle", "--json-lines").out.splitlines()
    assert json.loads(lines[-1])["step"] == "shuffled"
