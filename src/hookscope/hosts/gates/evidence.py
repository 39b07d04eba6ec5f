"""Evidence for a failed gate: searched locations and close matches. Never shows a value."""

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate
from hookscope.model.host import Host

SIMILARITY = 0.75  # cutoff for difflib: high, because no suggestion is better than a wrong one
MOST_COMPARED = 50_000  # names in one search


def with_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    """Return a failed gate with its evidence, `looked` and `near`; any other gate unchanged."""
    if gate.passed is not False:
        return gate
    if not gate.kind.evidence_of_host:
        return _find_evidence(gate, hook, host)
    # The entry keeps the gate alive, so no other gate gets its id.
    return host.cached((with_evidence, id(gate)), lambda: (gate, _find_evidence(gate, hook, host)))[1]


def _find_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    rule = gate.kind.evidence
    looked, near = rule(gate, hook, host) if rule is not None else ((), ())
    if not looked and gate.setting is not None:
        looked = (setting_location(gate.setting, host),)
    return replace(gate, looked=looked, near=near) if looked or near else gate


def setting_location(path: KeyPath, host: Host) -> str:
    """Return where a setting is, or would be: `a.b (settings.json:3)`."""
    settings, dotted = host.settings, dotted_path(path)
    if not settings.exists:
        return f"{dotted} (no file {host.machine.short(settings.file)} yet)"
    for length in range(len(path), 0, -1):
        place = settings.locate(path[:length])
        if place is not None and length == len(path):
            return f"{dotted} ({place.file.name}:{place.line})"
        if place is not None:
            above = dotted_path(path[:length])
            return f"{dotted} (absent; {above} is at {place.file.name}:{place.line})"
    return f"{dotted} (absent in {settings.file.name})"


def note_hooks(hooks: Iterable[Hook], host: Host) -> None:
    """Record the names and settings keys of the hooks that a scan found: none of these is a typo."""
    real_names: set[str] = host.known.setdefault(note_hooks, set())
    real_names.update(word for hook in hooks for word in (hook.name, hook.key))


def is_of_another_hook(path: KeyPath, needed: KeyPath, host: Host) -> bool:
    """Return True if the settings `path` is in a hook's entry, and `needed` does not name that hook."""
    real_names: set[str] = host.known.get(note_hooks, set())
    owners = {name for above, name in pairwise(path) if above == "entries" and name in real_names}
    return not owners.issubset(needed)


def similar_to_no_hook(name: str, names: Iterable[str], host: Host) -> tuple[str, ...]:
    """Return the names similar to `name`, except those of existing hooks, which are not typos."""
    real_names: set[str] = host.known.get(note_hooks, set())
    return similar_among(name, tuple(other for other in names if other not in real_names), host)


def similar_among(name: str, names: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Return `similar_names`; to limit a scan's time, empty once it has compared `MOST_COMPARED` names."""
    compared: int = host.known.get(similar_among, 0) + len(names)
    host.known[similar_among] = compared
    return similar_names(name, names) if compared <= MOST_COMPARED else ()


@lru_cache(maxsize=1024)
def similar_names(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most two names similar to `name`, closest first; upper and lower case are equal."""
    known = {other.lower(): other for other in names if other != name}
    near = get_close_matches(name.lower(), known, n=2, cutoff=SIMILARITY)
    return tuple(known[word] for word in near)
