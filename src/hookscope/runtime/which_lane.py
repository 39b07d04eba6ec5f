"""Which lane runs which handler: one for functions of this process, one for each language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from hookscope.core.dialect import Host
from hookscope.core.failure import Failure
from hookscope.core.hooks import Language
from hookscope.core.lanes import AheadLane, KeepingLane, Lane, LateLane
from hookscope.core.runs import Code, Declared, Handler, Module, Plan, Registration
from hookscope.helpers import find_program
from hookscope.runtime.limits import Limits
from hookscope.runtime.node import NoNode, find_node, said_by
from hookscope.values import dataclass

OF_NODE: tuple[Language, ...] = ("typescript", "javascript")


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where handlers run: one lane for functions of this process, one for each language."""

    functions: Lane
    code: dict[Language, Lane] = field(default_factory=dict)

    @property
    def languages(self) -> frozenset[Language]:
        """The languages that somebody runs here."""
        return frozenset(self.code)

    def of(self, call: Registration) -> Lane:
        """The lane of a planned call."""
        return self.code[call.target.language] if isinstance(call.target, Code) else self.functions

    def expect(self, plan: Plan) -> None:
        """All that will run its handlers begins to start, side by side."""
        calls: dict[Language, list[Registration]] = {}
        for group in plan.groups:
            for call in group.calls:
                if isinstance(call.target, Code):
                    calls.setdefault(call.target.language, []).append(call)
        for language, of_one in calls.items():
            lane = self.code.get(language)
            if isinstance(lane, AheadLane):
                lane.expect(of_one)

    async def load(
        self, code: Code, without: Mapping[Language, str]
    ) -> Handler | Code | Module | Failure | str:
        """What to register, or why it failed, or, as a text, why nobody tried: its language has no lane, and
        so it lacks what `without` says."""
        if code.language == "unknown":
            text = f"{code.path.name} is neither Python, TypeScript nor JavaScript"
            return Failure("UnknownLanguage", text, phase="load")
        lane = self.code.get(code.language)
        if lane is None:
            return f"{code.path.name} {without.get(code.language, '')}".rstrip()
        return await lane.load(code)

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Nothing but these is registered from now on: lanes may forget what they loaded before."""
        for lane in {id(lane): lane for lane in self.code.values()}.values():
            if isinstance(lane, KeepingLane):
                lane.keep_only(targets)

    @property
    def late_count(self) -> int:
        """How many handlers plugins have registered since they were loaded."""
        return sum(getattr(lane, "late_count", 0) for lane in set(self.code.values()))

    def late_of(self, code: Code) -> Sequence[Declared]:
        """What this plugin has registered since it was loaded."""
        lane = self.code.get(code.language)
        return lane.late_of(code) if isinstance(lane, LateLane) else ()

    async def close(self) -> None:
        """End all workers and wait until they are gone."""
        for lane in {id(lane): lane for lane in (self.functions, *self.code.values())}.values():
            await lane.close()


def in_process() -> Lanes:
    """Python handlers, written as functions or as files, in the caller's own process."""
    from hookscope.runtime import InProcessLane  # here: a look runs nothing, and loads nothing that does

    lane = InProcessLane()
    return Lanes(lane, {"python": lane})


def with_node(lanes: Lanes, host: Host) -> tuple[Lanes, Mapping[Language, str]]:
    """With a lane for what the Node that is found here runs, whose workers have no limits.

    And why it does not run TypeScript, or there is none.
    """
    surroundings = host.surroundings
    workspace = (host.workspace, surroundings.cwd)
    found = find_node(find_program("node", workspace), asked=partial(said_by, workspace=workspace))
    lacks = {language: found.sentence for language in OF_NODE if language not in found.languages}
    if isinstance(found, NoNode):
        return lanes, lacks
    from hookscope.runtime import node_lane  # here: as above

    none = Limits(spawn=None, load=None, run=None, warn=None, memory=None)
    lane = node_lane(env=host.env, cwd=surroundings.cwd, node=found.path, limits=none)
    return replace(lanes, code={**lanes.code, **dict.fromkeys(found.languages, lane)}), lacks
