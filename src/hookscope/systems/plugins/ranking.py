"""Which plugin wins an id."""

from hookscope.core.hooks import Hook
from hookscope.core.inventory import Found, Ranking
from hookscope.core.plan import MAPPED


def ranking_of_plugins(found: Found) -> Ranking:
    """The plugin in the higher folder wins its id; in one folder, the first.

    Nobody competes with a mapped hook. Plugins load in the order of finding, mapped hooks after them.
    """
    plugins = [hook for hook in found.hooks if hook.role != MAPPED]
    winners: dict[str, Hook] = {}
    for hook in sorted(plugins, key=lambda hook: -hook.folder.rank):
        winners.setdefault(hook.name, hook)
    standing = set(winners.values())
    order = tuple(hook for hook in found.hooks if hook in standing or hook.role == MAPPED)
    losers = {hook: winners[hook.name] for hook in plugins if hook not in standing}
    return Ranking(order, order, losers)
