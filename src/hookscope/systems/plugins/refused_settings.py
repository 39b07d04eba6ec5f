"""Settings that a plugin's own schema does not take: a shipped host refuses all of them, and does not run."""

from collections.abc import Iterator, Mapping

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook, Place, Problem
from hookscope.core.inventory import Found
from hookscope.formats.places import KeyPath
from hookscope.systems.folders.gates import GateRule
from hookscope.systems.plugins.access import ENTRIES
from hookscope.systems.plugins.manifests import schema_of
from hookscope.systems.plugins.ranking import ranking_of_plugins
from hookscope.systems.plugins.schemas import Issue, misfits
from hookscope.values import dataclass

NOBODY_STARTS = "the host refuses its settings"


def misfits_of(hook: Hook, host: Host) -> tuple[Issue, ...]:
    """What a plugin's schema has against what the settings say to it: a path in there and a sentence each."""
    schema = schema_of(hook, host)
    return misfits(schema, dict(hook.meta.config)) if schema is not None else ()


@dataclass(frozen=True, slots=True)
class AskedPlugins:
    """Whose settings the host checks before it takes any: of plugins that these checks leave on, and of
    those that the settings say something to, whether they are on or not."""

    on: tuple[GateRule, ...]

    def issues(self, found: Found, host: Host) -> tuple[Issue, ...]:
        """What makes the host refuse its settings: a path and a sentence for each."""
        winners = ranking_of_plugins(found).load_order
        return tuple(issue for hook in winners for issue in self._of_one(hook, host))

    def _of_one(self, hook: Hook, host: Host) -> Iterator[Issue]:
        where = (*ENTRIES, hook.name, "config")
        wrong = misfits_of(hook, host)
        said = isinstance(host.settings.get(where), Mapping)
        if wrong and (said or all(rule(hook, host).passed for rule in self.on)):
            yield from (((*where, *at), f"invalid config: {text}") for at, text in wrong)


def problems_of(issues: tuple[Issue, ...], host: Host) -> tuple[Problem, ...]:
    """A problem for each, at the place of the setting, or of the nearest one above it that is there."""
    return tuple(
        Problem(f"{'.'.join(map(str, path))}: {text}; {NOBODY_STARTS}", _place(path, host))
        for path, text in issues
    )


def _place(path: KeyPath, host: Host) -> Place:
    above = (path[:length] for length in range(len(path), 0, -1))
    return next(filter(None, map(host.settings.locate, above)), Place(host.settings.file))
