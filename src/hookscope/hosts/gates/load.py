"""The `load` gate: does the hook's code load, once that was tried?"""

from hookscope.model.hook_status import FixKind, GateKind, State, register_gate

LOAD = register_gate(
    GateKind(
        "load",
        state=State.BROKEN,
        fix=FixKind.BY_HAND_LOAD,
        why_no_fix="its code failed; its error says where",
    )
)
