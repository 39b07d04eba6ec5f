"""Read handler sources without running them: Python exports, script brackets and default export."""

from dataclasses import replace
from pathlib import Path

from hookscope.formats.positions import FormatError
from hookscope.formats.python_source import read_exports
from hookscope.hosts.gates.export import export_gate, unknown_export_gate
from hookscope.model.hook import MAPPED_ROLE, FilePosition, Hook
from hookscope.model.hook_status import Gate, HookStatus, Inventory, Verdict
from hookscope.model.host import Host
from hookscope.model.machine import Files
from hookscope.model.regular_file import LARGEST_DIGEST
from hookscope.model.text import error_reason
from hookscope.values import dataclass

LARGEST_HANDLER = 1_048_576  # bytes; larger files are only checked by a load

LARGEST_SCRIPT = 65_536  # bytes; larger scripts are only checked by a load
SCRIPT_LANGUAGES = ("typescript", "javascript")
ONE_ARGUMENT_KINDS = ("folder", "legacy")  # kinds of hooks whose handlers get the event and nothing else
REGISTER_NAMES = {"register", "activate"}  # a plugin's entry functions, current and older
PLUGIN_EXPORTS = ("plugin", "default")  # an object, or a function, in place of `register`


def examine(inventory: Inventory, host: Host) -> Inventory:
    """Return the inventory with an `export` gate for each hook; unreadable handlers are broken."""
    return replace(inventory, hooks=tuple(examine_hook(row, host) for row in inventory.hooks))


def examine_hook(row: HookStatus, host: Host) -> HookStatus:
    """Return one hook's status after its handler was read."""
    handler, export = _source_gates(row.hook, host)
    notes = (*row.notes, *_changed_since_trust_notes(row.hook, host), *_script_notes(row.hook, host))
    gates: list[Gate] = []
    for gate in row.verdict.gates:
        if gate.name != "handler":
            gates.append(gate)
        elif gate.passed is False:
            gates += [gate, Gate("export", None, found="not reached")]
        else:
            gates += [handler or gate, export]
    return HookStatus(row.hook, Verdict(tuple(gates), row.verdict.shadowed_by), row.shadows, notes)


def _script_notes(hook: Hook, host: Host) -> list[str]:
    """Return a note if a plugin's default export plainly cannot be called. The load would fail."""
    path = hook.handler
    if path is None or hook.kind == "folder" or hook.language not in SCRIPT_LANGUAGES:
        return []
    try:
        uncallable = uncallable_export(hook, host.machine.files.read(path, LARGEST_SCRIPT + 1))
    except OSError:  # the load reports it
        return []
    return (
        [f"{path.name}:{uncallable.line} {uncallable.text}, so it fails to load"]
        if uncallable is not None
        else []
    )


@dataclass(frozen=True, slots=True)
class UncallableExport:
    """A default export that is not a function."""

    text: str  # the rest of a sentence that starts with the file name
    advice: str
    line: int


def uncallable_export(hook: Hook, source: bytes) -> UncallableExport | None:
    """Return the default export of a script if it plainly cannot be called, else None."""
    is_plugin = hook.kind == "plugin" and hook.role != MAPPED_ROLE
    if not (is_plugin or (hook.kind in ONE_ARGUMENT_KINDS and hook.meta.export == "default")):
        return None
    from hookscope.formats.script_source import unusable_default_export  # here and below: not for Python

    found = unusable_default_export(source)
    if found is None:
        return None
    methods = f" with {', '.join(map('`{}`'.format, found.members[:5]))}" if found.members else ""
    exported = f"exports {found.kind}{methods}"
    if not is_plugin:
        is_module = found.names_in_file.isdisjoint({"exports", "module"})
        write = "`export default` before" if is_module else "`module.exports =` before"
        advice = f"Write {write} the function that is called with the event."
        return UncallableExport(f"{exported}; it must be a function", advice, found.line)
    may_register = found.members is None or REGISTER_NAMES & (found.names_in_file | set(found.members))
    if found.kind != "a class" and may_register:
        return None
    advice = "Write `export default { id, register(api) { … } }`, or a function of `api`."
    return UncallableExport(f"{exported}; a plugin is a function, or has `register`", advice, found.line)


def _changed_since_trust_notes(hook: Hook, host: Host) -> list[str]:
    """Return a note if another user changed a trusted handler. The user's own edits are fine."""
    path = hook.handler
    trusted_digest = host.trust.digests.get(path) if path is not None and host.trust.digests else None
    facts = host.machine.files.facts(path) if path is not None and trusted_digest is not None else None
    if (
        path is None
        or facts is None
        or not facts.foreign
        or handler_digest(path, host.machine.files) == trusted_digest
    ):
        return []
    return [f"{path.name} belongs to another user and has changed since its folder was trusted"]


def handler_digest(path: Path, files: Files) -> str | None:
    """Return the first half of a handler file's SHA-256 in hexadecimal.

    None if it cannot be read or is larger than `LARGEST_DIGEST`.
    """
    from hashlib import sha256  # imported late: OpenSSL loads slowly

    try:
        source = files.read(path, LARGEST_DIGEST + 1)
    except OSError:
        return None
    return sha256(source).hexdigest()[:32] if len(source) <= LARGEST_DIGEST else None


def _source_gates(hook: Hook, host: Host) -> tuple[Gate | None, Gate]:
    """Return the `handler` gate if the source is at fault, and the `export` gate.

    Only a load can tell what a module of several handlers exports.
    """
    unknown = unknown_export_gate(hook.meta.export)
    path = hook.handler
    if path is not None and hook.kind == "folder" and hook.language in SCRIPT_LANGUAGES:
        return _script_gate(path, host.machine.files), _script_export_gate(hook, path, host) or unknown
    if path is None or hook.language != "python":
        return None, unknown
    try:
        source = host.machine.files.read(path, LARGEST_HANDLER + 1)
        if len(source) > LARGEST_HANDLER:
            return None, unknown
        exports = read_exports(source)
    except OSError as error:
        reason = f"{path.name} cannot be read: {error_reason(error)}"
        return Gate("handler", False, found="unreadable", reason=reason, place=FilePosition(path)), unknown
    except FormatError as error:
        return _parse_error_gate(path, error), Gate("export", None, found="not reached")
    if hook.kind == "stream" or (
        hook.kind == "plugin" and any(export_name in exports for export_name in PLUGIN_EXPORTS)
    ):
        return None, unknown
    return None, export_gate(exports, hook.meta.export, path, called=hook.kind in ONE_ARGUMENT_KINDS)


def _script_gate(path: Path, files: Files) -> Gate | None:
    """Return a failed gate for a script with unbalanced brackets. The host's list does not check this."""
    from hookscope.formats.script_source import check_brackets

    try:
        check_brackets(files.read(path, LARGEST_SCRIPT + 1))
    except OSError:  # the load reports it
        return None
    except FormatError as error:
        return replace(_parse_error_gate(path, error), reported=False)
    return None


def _script_export_gate(hook: Hook, path: Path, host: Host) -> Gate | None:
    """Return a failed `export` gate if the called function is plainly missing. The host's list omits it."""
    from hookscope.formats.script_source import exported_names, may_export_default

    try:
        source = host.machine.files.read(path, LARGEST_SCRIPT + 1)
    except OSError:  # the load reports it
        return None
    wanted = hook.meta.export.strip() or "default"
    uncallable = uncallable_export(hook, source)
    if uncallable is not None:
        place = FilePosition(path, uncallable.line)
        reason = f"{path.name} {uncallable.text}"
        return Gate("export", False, (wanted,), (wanted,), "no function", reason, reported=False, place=place)
    exported = None if may_export_default(source) and wanted == "default" else exported_names(source)
    if exported is None or wanted in exported:
        return None
    listed = ", ".join(f"`{name}`" for name in exported[:5])
    missing = "no default export" if wanted == "default" else f"no export `{wanted}`"
    reason = f"{path.name} has {missing}; it exports {listed}"
    return Gate(
        "export", False, (wanted,), (wanted,), "absent", reason, reported=False, place=FilePosition(path)
    )


def _parse_error_gate(path: Path, error: FormatError) -> Gate:
    place = FilePosition(path, error.span.line, error.span.column)
    return Gate("handler", False, found="does not parse", reason=f"{path.name}, {error}", place=place)
