"""The `path` gate: is the handler, with links resolved, in a place that the host allows?"""

from hookscope.hosts.gates.trusted import is_inside_hooks_folder
from hookscope.model.hook import Hook
from hookscope.model.hook_status import FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host

PATH_PASSED = Gate("path", True)


def own_folder_gate(hook: Hook, host: Host) -> Gate:
    """Check that the handler's real file is in its hook's folder. Source: OpenClaw's guide, section 6."""
    if hook.leads_out is None:
        return PATH_PASSED
    return _failed_path(hook, f"Handler path escapes the hook's folder: {hook.leads_out}")


def allowed_roots_gate(hook: Hook, host: Host) -> Gate:
    """Check that the handler's real file is below a hooks folder; accepted extra folders count.

    Source: Milady's guide, "Path Safety".
    """
    if hook.leads_out is None and is_inside_hooks_folder(hook):
        return PATH_PASSED
    real = hook.leads_out or hook.real
    if real is None or any(
        folder.real is not None and real.is_relative_to(folder.real) for folder in host.folders
    ):
        return PATH_PASSED
    return _failed_path(hook, f"Handler is outside the allowed hooks folders: {real}")


def any_path_gate(hook: Hook, host: Host) -> Gate:
    """Pass every hook, for a host that does not check real paths."""
    return PATH_PASSED


def _failed_path(hook: Hook, reason: str) -> Gate:
    return Gate("path", False, missing=(str(hook.leads_out or hook.real),), found="outside", reason=reason)


PATH = register_gate(
    GateKind(
        "path",
        guide_order=40,
        state=State.BROKEN,
        fix=FixKind.BY_HAND_PATH,
        why_no_fix="the handler must be in the hook's own folder: move it there",
        entry_advice="move the handler below the workspace, and set `module` of {entry} to the new path",
        next_step="move the handler into the hook's own folder",
        shows_needed=False,
    )
)
