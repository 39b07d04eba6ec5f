"""Who wins where two hooks have one name."""

from hookscope.core.hooks import Hook
from hookscope.core.inventory import Found, Ranking


def may_win(newcomer: Hook, holder: Hook) -> bool:
    """Not where the host does not even see the newcomer, and sees the holder."""
    return holder.beyond_host or not newcomer.beyond_host


def ranking_of(found: Found, *, reports_by_rank: bool) -> Ranking:
    """Winners in load order and in report order, and every loser with its winner.

    The higher folder wins; of one rank, the later one. A winner takes over the place of what it
    replaced, as a JavaScript Map does: the order of calls depends on it (recorded in milady 03 and
    openclaw disc-03). What only Hookscope runs comes last and wins from no hook that the host sees.
    Legacy handlers have no names of their own and never collide.
    """
    places: dict[str, Hook] = {}
    for hook in sorted(found.hooks, key=lambda hook: hook.beyond_host):
        if hook.kind == "legacy":
            continue
        holder = places.get(hook.name)
        if holder is None or (hook.folder.rank >= holder.folder.rank and may_win(hook, holder)):
            places[hook.name] = hook
    legacy = tuple(hook for hook in found.hooks if hook.kind == "legacy")
    winners = (*places.values(), *legacy)
    standing = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=lambda hook: hook.folder.rank))
        if reports_by_rank
        else winners,
        shadowed_by={hook: places[hook.name] for hook in found.hooks if hook not in standing},
    )
