"""The `bins` and `anyBins` gates: are all, or any, of the programs that the hook needs on PATH?"""

from operator import attrgetter
from pathlib import Path

from hookscope.hosts.gates.rules import cached_by_field, nothing_needed
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, register_gate
from hookscope.model.host import Host

NO_BINS = nothing_needed("bins")
NO_ANY_BINS = nothing_needed("anyBins")

# Folders that often contain programs but are often missing from the PATH of a service.
USUAL_FOLDERS = """
~/.local/bin ~/bin /usr/local/bin /usr/bin /bin /opt/homebrew/bin ~/.cargo/bin ~/go/bin ~/.bun/bin ~/.deno/bin
~/.npm-global/bin
"""


@cached_by_field(attrgetter("meta.requires.bins"))
def bins_gate(hook: Hook, host: Host) -> Gate:
    """Check that all programs in `bins` are on PATH and executable."""
    needed = hook.meta.requires.bins
    if not needed:
        return NO_BINS
    folders = host.machine.search_path()
    programs = {name: host.machine.files.program(name, folders) for name in needed}
    missing = tuple(name for name, program in programs.items() if program.path is None)
    found = [program.path for program in programs.values() if program.path is not None]
    misses = [
        f"{program.unrunnable} is not executable"
        for program in programs.values()
        if program.path is None and program.unrunnable is not None
    ]
    if missing:
        found += misses or [f"not on PATH (folders searched: {len(folders)})"]
    reason = ", ".join(f"Binary missing: {name}" for name in missing)
    return Gate("bins", not missing, needed, missing, found=", ".join(found), reason=reason)


@cached_by_field(attrgetter("meta.requires.any_bins"))
def any_bins_gate(hook: Hook, host: Host) -> Gate:
    """Check that at least one of the programs in `anyBins` is on PATH and executable."""
    needed = hook.meta.requires.any_bins
    if not needed:
        return NO_ANY_BINS
    folders = host.machine.search_path()
    for name in needed:
        program = host.machine.files.program(name, folders)
        if program.path is not None:
            return Gate("anyBins", True, needed, found=program.path)
    found = f"none on PATH (folders searched: {len(folders)})"
    return Gate("anyBins", False, needed, needed, found=found, reason=f"None of: {', '.join(needed)}")


def _programs(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here = host.machine
    folders, near = here.search_path(), []
    usual = tuple(str(here.absolute(path)) for path in USUAL_FOLDERS.split())
    elsewhere = tuple(path for path in usual if path not in folders)
    for name in gate.missing:
        program = here.files.program(name, folders)
        if program.path is None and program.unrunnable is not None:
            near.append(f"{here.short(Path(program.unrunnable))} exists but is not executable")
        else:
            beside = here.files.program(name, elsewhere).path
            if beside is not None:
                folder = here.short(Path(beside).parent)
                near.append(f"{here.short(Path(beside))} exists, but {folder} is not on PATH")
    return folders or ("PATH, which is empty",), tuple(near)


BINS = register_gate(
    GateKind(
        "bins",
        guide_order=60,
        check=bins_gate,
        evidence=_programs,
        evidence_of_host=True,
        fix=FixKind.PROGRAMS,
        problem="{missing} {is} not on the PATH",
        remedy="install {missing}",
        is_requirement=True,
    )
)
ANY_BINS = register_gate(
    GateKind(
        "anyBins",
        guide_order=70,
        check=any_bins_gate,
        evidence=_programs,
        evidence_of_host=True,
        fix=FixKind.PROGRAMS,
        problem="none of {missing} is on the PATH",
        remedy="install one of {missing}",
        is_requirement=True,
        any_of=True,
    )
)
