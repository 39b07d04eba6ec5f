"""The gates between an agent's module and its handlers: one `(hook, host) -> Gate` each."""

from hookscope.hosts.gates import sent
from hookscope.hosts.gates.handler import HANDLER
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.gates.trust import TRUSTED
from hookscope.model.hook import Hook
from hookscope.model.hook_status import FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host

BUILD_PASSED = Gate("build", True, found="no errors")
NO_EVENTS = Gate("sent", False, ("1 or more",), found="no events", reason="it names no event in `events`")
KNOWN_AFTER_LOAD = Gate("sent", None, found="known after a load")


def build_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host builds the project: one error anywhere stops the build (rules note 3.2)."""
    if hook.build is None:
        return BUILD_PASSED
    reason = f"{host.dialect.product} builds nothing: {hook.build.text}"
    wanted = (str(hook.build.missing_file),) if hook.build.missing_file is not None else ()
    return Gate(
        "build", False, ("no errors",), wanted, found="an error", reason=reason, place=hook.build.place
    )


BUILD = register_gate(
    GateKind(
        "build",
        asks="does the agent's project build; one error stops all",
        state=State.BROKEN,
        check=build_gate,
        fix=FixKind.BY_HAND_BUILD,
        why_no_fix="the host builds nothing before this is mended by hand",
    )
)


def handler_gate(hook: Hook, host: Host) -> Gate:
    """Pass with the name of the module. Its handlers are known after a load."""
    return Gate("handler", True, found=hook.handler.name if hook.handler else "")


def sent_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host sends one of the hook's events, as far as they are known."""
    if hook.meta.events is None:
        return KNOWN_AFTER_LOAD
    return sent.sent_gate(hook, host) if hook.meta.events else NO_EVENTS


def scope_gate(hook: Hook, host: Host) -> Gate:
    """Pass with the agent whose stream the hook receives; this gate never fails."""
    return Gate("scope", True, found=hook.scope or "the root agent")


SCOPE = register_gate(
    GateKind("scope", asks="whose stream a module hears: the root agent's or a subagent's", check=scope_gate)
)
STREAM_GATES = rules_of(BUILD, (HANDLER, handler_gate), TRUSTED, (sent.SENT, sent_gate), SCOPE)


def stream_gates_of(hook: Hook, host: Host) -> tuple[Gate, ...]:
    """Return every gate of a hook, in display order."""
    return tuple(rule(hook, host) for rule in STREAM_GATES.values())
