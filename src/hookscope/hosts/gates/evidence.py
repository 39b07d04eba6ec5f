"""Evidence for a failed gate: searched locations and near misses. Never shows a value."""

from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache

from hookscope.formats.positions import KeyPath
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate
from hookscope.model.host import Host

SIMILARITY = 0.75  # of difflib: rather silent than wrong
MOST_COMPARED = 50_000  # names in one look


def with_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    """Return a failed gate with `looked` and `near`, if there is anything to report."""
    if gate.passed is not False:
        return gate
    if not gate.kind.evidence_of_host:
        return _find_evidence(gate, hook, host)
    key = (with_evidence, id(gate))
    if key not in host.known:  # with the gate itself, which keeps its id from being another one's
        host.known[key] = (gate, _find_evidence(gate, hook, host))
    found: Gate = host.known[key][1]
    return found


def _find_evidence(gate: Gate, hook: Hook, host: Host) -> Gate:
    rule = gate.kind.evidence
    looked, near = rule(gate, hook, host) if rule is not None else ((), ())
    if not looked and gate.setting is not None:
        looked = (setting_location(gate.setting, host),)
    return replace(gate, looked=looked, near=near) if looked or near else gate


def setting_location(path: KeyPath, host: Host) -> str:
    """Return where a setting is, or would be: `a.b (settings.json:3)`."""
    settings, dotted = host.settings, ".".join(map(str, path))
    if not settings.exists:
        return f"{dotted} (no file {host.machine.short(settings.file)} yet)"
    for length in range(len(path), 0, -1):
        place = settings.locate(path[:length])
        if place is not None and length == len(path):
            return f"{dotted} ({place.file.name}:{place.line})"
        if place is not None:
            above = ".".join(map(str, path[:length]))
            return f"{dotted} (absent; {above} is at {place.file.name}:{place.line})"
    return f"{dotted} (absent in {settings.file.name})"


def similar_among(name: str, names: tuple[str, ...], host: Host) -> tuple[str, ...]:
    """Do the same as `similar_names`, within a limit for one scan: a thousand hooks may each compare a
    thousand entries.
    """
    compared: int = host.known.get(similar_among, 0) + len(names)
    host.known[similar_among] = compared
    return similar_names(name, names) if compared <= MOST_COMPARED else ()


@lru_cache(maxsize=1024)
def similar_names(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return at most two similar names, those that differ only in case first."""
    known = {other.lower(): other for other in names if other != name}
    near = get_close_matches(name.lower(), known, n=2, cutoff=SIMILARITY)
    return tuple(known[word] for word in near)
