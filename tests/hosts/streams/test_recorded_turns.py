"""The session machine against the recorded turns, with hooks that do what the cases say in neutral words.

Which of several hooks comes first is a matter of other tests; here it is as recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.layouts import Case, cases_below
from tests.hosts.streams.playing import Hook, Stage

from hookscope.hosts.dialects.eve_sessions import SESSIONS_0_18, SESSIONS_0_80
from hookscope.hosts.streams.session_messages import SessionAgent

RULES = {"0.80.1": SESSIONS_0_80, "0.18.1": SESSIONS_0_18}
CASES = Path(__file__).parents[2] / "conformance" / "cases" / "eve"
ANY = {"<SESSION>", "<RUN>", "<TOKEN>", "<RECEIPT>", "<ID>"}
LEFT_OUT = {"usage", "trace", "description"}  # of the recordings
TOOLS = {"add-up": lambda given: {"sum": given["a"] + given["b"]}}


def fails(_: Any) -> Any:
    raise RuntimeError("tool is broken")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    root: Path = metafunc.config.getoption("cases", None) or CASES
    turns = [case for case in cases_below(root) if case.host == "eve" and case.given["mode"] == "turn"]
    pairs = [(case, version) for case in turns for version in case.expected["versions"]]
    ids = [f"{case.folder.name}-{version}" for case, version in pairs]
    metafunc.parametrize(("case", "version"), pairs, ids=ids)


def test_a_recorded_turn_is_played_as_recorded(case: Case, version: str) -> None:
    expected = case.expected["versions"][version]
    stage = Stage(RULES[version], agents_of(case), hooks_of(case, expected))
    stage.replies = {"": case.given["modelReplies"], "subagents/helper": ["Helper answer"]}
    stage.tools = {**TOOLS, "fails": fails}
    session, _ = stage.play(*case.given["messages"])
    told = [{"type": kind, "data": shown(data)} for kind, data in stage.streams[session.id]]
    assert same(told, [{"type": one["type"], "data": one["data"]} for one in expected["stream"]])
    for other in (False, True):
        wanted = [shown_call(call) for call in expected["calls"] if call.get("otherSession", False) is other]
        assert list(calls_of(stage, session.id, other, wanted)) == wanted


def agents_of(case: Case) -> dict[str, SessionAgent]:
    root = case.folder / "tree/agent"
    names = [path.parent.name for path in root.glob("subagents/*/agent.ts")]
    tools = frozenset(path.stem for path in root.glob("tools/*.ts"))
    subagents = {name: f"subagents/{name}" for name in names}
    children = {node: SessionAgent(name, node, delegated=True) for name, node in subagents.items()}
    return {"": SessionAgent("case-app", "", tools, subagents), **children}


def hooks_of(case: Case, expected: Mapping[str, Any]) -> list[Hook]:
    """In the recorded order of their files; a subagent's are not among those."""
    places = [one["slug"] for one in expected["compiled"]]
    found = []
    for file, subscriptions in case.given["hooks"].items():
        node, _, module = file.removeprefix("agent/").rpartition("hooks/")
        slug = module.rpartition(".")[0]
        found += [Hook(slug, key, words, node.rstrip("/")) for key, words in subscriptions.items()]
    return sorted(found, key=lambda hook: places.index(hook.slug) if hook.slug in places else len(places))


def shown(data: Any) -> Any:
    """Data without what the recordings leave out; of `runtime` they give the names alone."""
    if isinstance(data, list):
        return [shown(one) for one in data]
    if not isinstance(data, Mapping):
        return data
    kept = {name: shown(value) for name, value in data.items() if name not in LEFT_OUT}
    return {**kept, "runtime": sorted(kept["runtime"])} if "runtime" in kept else kept


def same(ours: Any, theirs: Any) -> bool:
    """Equal, but for values that change from run to run."""
    if isinstance(theirs, str) and "<" in theirs:
        pattern = "".join(
            ".+" if part in ANY or part == "<TASK>" else re.escape(part)
            for part in re.split(r"(<[A-Z]+>)", theirs)
        )
        return isinstance(ours, str) and re.fullmatch(pattern, ours, re.DOTALL) is not None
    if isinstance(theirs, Mapping):
        return (
            isinstance(ours, Mapping)
            and set(ours) == set(theirs)
            and all(same(ours[name], theirs[name]) for name in theirs)
        )
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


def shown_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: call[name] for name in ("slug", "sub", "type", "streamIndex") if call.get(name) is not None}


def calls_of(
    stage: Stage, session: str, other: bool, wanted: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    placed = bool(wanted) and "streamIndex" in wanted[0]
    for of, hook, kind, place in stage.calls:
        if (of != session) is other:
            told = {"slug": hook.slug, "sub": hook.key, "type": kind}
            yield {**told, "streamIndex": place} if placed else told
