"""Which options of `fire` go together: every pair of them is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.done import Done

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "several events": ("command:reset",),
    "--session": ("--session", "agent:main:main"),
    "--context": ("--context", "{}"),
    "--context @-": ("--context", "@-"),
    "--ctx @-": ("--ctx", "@-"),
    "--only": ("--only", "greet"),
    "--except": ("--except", "greet"),
    "--force": ("--force",),
    "--break": ("--break", "greet=exception"),
    "--repeat": ("--repeat", "4"),
    "--shuffle": ("--shuffle",),
    "--seed": ("--seed", "1"),
    "--timeout": ("--timeout", "5"),
    "--wait": ("--wait", "0"),
    "--trust": ("--trust",),
    "--step": ("--step",),
    "--debug": ("--debug",),
    "--sandbox": ("--sandbox",),
    "--save": ("--save", "kept"),
    "--json": ("--json",),
    "--json-lines": ("--json-lines",),
}
TWICE = ("--context", "--context @-")  # the same option
EXCLUDE = {
    frozenset(pair): said
    for *pair, said in (
        ("--save", "several events", "--save saves only one event. Fire them one by one."),
        ("--repeat", "several events", "--repeat repeats only one event. Fire them one by one."),
        ("--only", "--except", "--only already excludes all other hooks. Use --only or --except."),
        ("--json", "--json-lines", "--json prints one document, --json-lines a line for each step."),
        ("--context @-", "--ctx @-", "--context and --ctx both read standard input. Name a file"),
        ("--debug", "--step", "--debug stops inside a handler, --step before it. Use one of them"),
        ("--debug", "--repeat", "--debug follows one run, but --repeat makes several. Use one of them"),
        ("--debug", "--json-lines", "print lines during the run. Use one of them; --json prints"),
        ("--debug", "--context @-", "--context @- both read standard input. Name a file for --context"),
        ("--debug", "--ctx @-", "--debug and --ctx @- both read standard input. Name a file"),
        ("--step", "--repeat", "--step follows one run, but --repeat makes several. Use one of them"),
        ("--step", "--json-lines", "--step asks questions between the lines that --json-lines prints. Use"),
    )
}
WANT = {
    "--force": ("--only", "--force needs one hook. Name it with --only HOOK."),
    "--seed": ("--shuffle", "--seed has no effect without --shuffle. Use both, or neither."),
    "--shuffle": ("--repeat", "at least 4. --repeat 20 --shuffle is a good start."),
    "--step": ("a terminal", "--step needs a terminal, to ask before each handler. Leave it out here."),
}


@pytest.mark.parametrize("one", OPTIONS)
def test_each_pair_of_fire_options_works_or_is_refused_with_a_reason(
    hookscope: Callable[..., Done], workspace: Path, bundled: Path, make_hook: Callable[..., Path], one: str
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: ['gateway:startup']}}")
    for pair in combinations(OPTIONS, 2):
        if pair[0] != one or pair == TWICE:
            continue
        said = EXCLUDE.get(frozenset(pair)) or next(
            (why for option, (wanted, why) in WANT.items() if option in pair and wanted not in pair), ""
        )
        typed = (*OPTIONS[pair[0]], *OPTIONS[pair[1]])
        done = hookscope("--bundled", str(bundled), "fire", "command:new", *typed, text="{}")
        assert (done.code == 2) == bool(said), (pair, done.err)
        assert said in done.err, pair
        assert not said or done.err.count("\n") == 1, pair


def test_shuffle_refuses_too_few_fires(hookscope: Callable[..., Done], bundled: Path) -> None:
    done = hookscope("--bundled", str(bundled), "fire", "command:new", "--repeat", "3", "--shuffle")
    assert (done.code, "at least 4. --repeat 20 --shuffle" in done.err) == (2, True)


@pytest.mark.parametrize("names", [("a",), ("a", "a"), ("a", "b", "a")])
def test_only_accepts_a_repeated_name_and_refuses_two_names(
    names: tuple[str, ...], hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    for name in "ab":
        make_hook(workspace / "hooks", name, "{openclaw: {events: ['command:new']}}")
    words = [word for name in names for word in ("--only", name)]
    done = hookscope("fire", "command:new", "--trust", "--json", *words)
    if len(set(names)) == 1:
        assert [item["hook"] for item in done.json["results"]] == ["a"]
    else:
        assert done.code == 2
        assert "--only takes one hook, not a and b." in done.err
