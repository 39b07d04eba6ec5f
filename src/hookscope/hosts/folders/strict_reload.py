"""A reload that loads all hooks or none.

A selected hook that has lost its HOOK.md, metadata or handler ends the reload. Recorded from OpenClaw
2026.9.6 when it reloads folders of all kinds (load-03).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.gates.rules import gates_of
from hookscope.model.hook import Folder, Hook
from hookscope.model.hook_status import FoundHooks, StrictLoadState
from hookscope.model.host import Host
from hookscope.values import dataclass

FILE_GATES = frozenset({"settings", "handler", "events", "trusted", "sent"})  # not checked for selection


@dataclass(frozen=True, slots=True)
class StrictFolders:
    """Implements `StrictLoadCheck`."""

    names_in_settings: Callable[[Host], frozenset[str]]  # the hooks that the settings name
    is_configured: Callable[[Host], bool]  # whether the settings configure hooks; if not, there is no scan
    lost_manifest: str  # the host's sentences: {name} {file}
    lost_handler: str  # {name} {folder}

    def sources(self, host: Host, hooks: Iterable[Hook]) -> StrictLoadState:
        """Return the state after a lenient load, for a later strict reload."""
        found = tuple(hook for hook in hooks if hook.kind == "folder") if self.is_configured(host) else ()
        return StrictLoadState(found, self.names_in_settings(host))

    def check(self, host: Host, previous: StrictLoadState) -> tuple[StrictLoadState, tuple[str, str] | None]:
        """Return the state after this load, and the first hook that ends it, with the host's message.

        A folder with a HOOK.md and no handler counts, so it shadows hooks of lower rank. A hook of the
        previous load that is gone, or has lost its metadata, counts as it was.
        """
        if not self.is_configured(host):
            return StrictLoadState((), self.names_in_settings(host)), None
        system = folder_system_of(host.dialect)
        shape = replace(system.shape, allows_missing_handler=True)
        named = self.names_in_settings(host)
        hooks, lost = _with_lost_hooks(
            system.finder(host, shape, system.texts, ()).hooks, previous, named, host
        )
        winners = system.rank(FoundHooks(hooks)).load_order
        sources = StrictLoadState(winners, named)
        for hook in winners:
            if not self._is_chosen(hook, host):
                continue
            if id(hook) in lost or not hook.meta.events:
                return sources, (hook.name, self.lost_manifest.format(name=hook.name, file=hook.manifest))
            if hook.handler is None:
                folder = hook.real or hook.path
                return sources, (hook.name, self.lost_handler.format(name=hook.name, folder=folder))
        return sources, None

    def _is_chosen(self, hook: Hook, host: Host) -> bool:
        """Return whether the settings and the machine allow the hook to load, regardless of its files."""
        system = folder_system_of(host.dialect)
        rules = {name: rule for name, rule in system.rules.items() if name not in FILE_GATES}
        gates = gates_of(hook, host, rules, system.always_skips)
        return all(gate.passed is not False for gate in gates)


def _with_lost_hooks(
    found: Iterable[Hook], previous: StrictLoadState, current_names: frozenset[str], host: Host
) -> tuple[tuple[Hook, ...], frozenset[int]]:
    """Return the current and the lost hooks by folder, lost ones last, and the `id()` of each lost hook.

    A hook is not lost if its folder no longer belongs to the host, or the settings no longer name it.
    """
    by_folder: dict[object, list[Hook]] = {_root(folder): [] for folder in host.folders_of("folder")}
    for hook in found:
        by_folder[_root(hook.folder)].append(hook)
    lost = set()
    for old in previous.hooks:
        neighbours = by_folder.get(_root(old.folder))
        names = {old.name, old.key}
        if neighbours is None or (names & previous.named and not names & current_names):
            continue
        current = next((hook for hook in neighbours if hook.manifest == old.manifest), None)
        if current is not None and current.meta.events:
            continue
        if current is not None:
            neighbours.remove(current)
        neighbours.append(old)
        lost.add(id(old))
    return tuple(hook for hooks in by_folder.values() for hook in hooks), frozenset(lost)


def _root(folder: Folder) -> object:
    return folder.label, folder.path, folder.plugin
