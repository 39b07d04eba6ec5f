"""Which hook wins a name: by folder rank, or by which source may replace which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from hookscope.model.hook import Hook, LogLine
from hookscope.model.inventory import FoundHooks, Ranking
from hookscope.values import dataclass


def may_win(newcomer: Hook, holder: Hook) -> bool:
    """Return whether the newcomer may take the name: not if the host sees only the holder."""
    return holder.beyond_host or not newcomer.beyond_host


def rank_hooks(found: FoundHooks, *, reports_by_rank: bool) -> Ranking:
    """Return the winners in load order and in report order, and each loser with its winner.

    The higher folder wins; of equal rank, the later hook. A winner takes the position of the hook
    that it replaces, as in a JavaScript Map: the call order depends on it (recorded in milady 03
    and openclaw disc-03). Hooks that only Hookscope runs come last and never replace a hook that
    the host sees. Legacy handlers have no names of their own and never collide.
    """
    by_name: dict[str, Hook] = {}
    for hook in sorted(found.hooks, key=lambda hook: hook.beyond_host):
        if hook.kind == "legacy":
            continue
        holder = by_name.get(hook.name)
        if holder is None or (hook.folder.rank >= holder.folder.rank and may_win(hook, holder)):
            by_name[hook.name] = hook
    legacy = tuple(hook for hook in found.hooks if hook.kind == "legacy")
    winners = (*by_name.values(), *legacy)
    winner_set = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=lambda hook: hook.folder.rank))
        if reports_by_rank
        else winners,
        shadowed_by={hook: by_name[hook.name] for hook in found.hooks if hook not in winner_set},
    )


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """Which sources may replace which, by label."""

    replaces: Mapping[str, frozenset[str]]  # a newcomer's label → the labels it may replace
    refusal: str  # the host's warning: {source} {name} {other}


def rank_by_source(found: FoundHooks, policy: SourcePolicy) -> Ranking:
    """Return the winners in load order and in report order, and each loser with its winner.

    Hooks are merged by rank, one after another. A newcomer that may replace takes the position of
    the hook that it replaces; otherwise it is ignored with a warning. Reports sort the winners by
    rank again. Source: rules-openclaw section 1 (disc-02 to disc-05, disc-17). A folder that the
    settings name twice is merged twice: it keeps its first position, and wins by its last. A hook
    that the host does not see never takes a name from one that it sees.
    """
    hooks = _by_rank(hook for hook in found.hooks if hook.kind != "legacy")
    by_name: dict[str, Hook] = {}
    log = []
    for hook in (
        *(candidate for candidate in hooks if not candidate.beyond_host),
        *(candidate for candidate in hooks if candidate.beyond_host),
    ):
        holder = by_name.get(hook.name)
        if holder is None or _may_replace(hook, holder, policy):
            by_name[hook.name] = hook
        elif not hook.beyond_host:
            parts = {"source": hook.folder.label, "name": hook.name, "other": holder.folder.label}
            log.append(LogLine("warn", policy.refusal.format(**parts)))
    winners = tuple(by_name.values())
    winner_set = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=_rank)),
        shadowed_by={hook: by_name[hook.name] for hook in hooks if hook not in winner_set},
        log=tuple(log),
    )


def _by_rank(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks by rank.

    Hooks of extra folders come first within their rank, once for each time the folder is named.
    """
    keyed = [
        (_rank(hook), position, hook) for hook in hooks for position in hook.folder.extra_positions or (inf,)
    ]
    return [hook for _, _, hook in sorted(keyed, key=lambda turn: turn[:2])]


def _rank(hook: Hook) -> int:
    return hook.folder.rank


def _may_replace(newcomer: Hook, holder: Hook, policy: SourcePolicy) -> bool:
    if newcomer.beyond_host and not holder.beyond_host:
        return False
    return holder.folder.label in policy.replaces.get(newcomer.folder.label, frozenset())
