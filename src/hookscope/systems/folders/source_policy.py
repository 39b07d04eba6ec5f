"""Who wins a name where sources may or may not replace one another."""

from collections.abc import Iterable, Mapping
from math import inf

from hookscope.core.hooks import Hook, LogLine
from hookscope.core.inventory import Found, Ranking
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """Which sources replace which, by their labels."""

    replaces: Mapping[str, frozenset[str]]  # a newcomer's label → the labels it may replace
    refusal: str  # the host's warning: {source} {name} {other}


def ranking_by_source(found: Found, policy: SourcePolicy) -> Ranking:
    """Winners in load order and in report order, and every loser with its winner.

    Hooks are merged by rank, one after another; a newcomer that may replace takes over the place of what
    it replaces, else it is ignored with a warning. The reports sort what came out by rank once more.
    Source: rules-openclaw section 1 (disc-02 to disc-05, disc-17). A folder that the settings name twice is
    merged twice: it keeps its first place, and wins by its last. A hook that the host itself would not
    see never takes a name from one that it sees.
    """
    hooks = _in_turn(hook for hook in found.hooks if hook.kind != "legacy")
    places: dict[str, Hook] = {}
    log = []
    for hook in (*(one for one in hooks if not one.beyond_host), *(one for one in hooks if one.beyond_host)):
        holder = places.get(hook.name)
        if holder is None or _may_replace(hook, holder, policy):
            places[hook.name] = hook
        elif not hook.beyond_host:
            parts = {"source": hook.folder.label, "name": hook.name, "other": holder.folder.label}
            log.append(LogLine("warn", policy.refusal.format(**parts)))
    winners = tuple(places.values())
    standing = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=_rank)),
        shadowed_by={hook: places[hook.name] for hook in hooks if hook not in standing},
        log=tuple(log),
    )


def _in_turn(hooks: Iterable[Hook]) -> list[Hook]:
    """By rank; those of extra folders, before the others of their rank, as often as they are named."""
    turns = [(_rank(hook), at, hook) for hook in hooks for at in hook.folder.named or (inf,)]
    return [hook for _, _, hook in sorted(turns, key=lambda turn: turn[:2])]


def _rank(hook: Hook) -> int:
    return hook.folder.rank


def _may_replace(newcomer: Hook, holder: Hook, policy: SourcePolicy) -> bool:
    if newcomer.beyond_host and not holder.beyond_host:
        return False
    return holder.folder.label in policy.replaces.get(newcomer.folder.label, frozenset())
