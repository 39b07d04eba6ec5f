"""Public door to OpenTelemetry: runs and handlers as spans and metrics, once the program has a provider."""

from __future__ import annotations

import sys
from importlib import import_module
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.model.executor import RunListener
    from hookscope.telemetry.run_listener import Telemetry as Telemetry

API = ("opentelemetry.trace", "opentelemetry.metrics")

_telemetry: Telemetry | None = None  # from the first run on that somebody hears of
_idle: tuple[object, ...] = (None, None)  # the API's own providers, which do nothing
_absent = False


def listener() -> RunListener | None:
    """What tells of runs in this process; None where nobody would hear it."""
    if _telemetry is not None or _absent or API[0] not in sys.modules:
        return _telemetry
    return _start_listening()


def _start_listening() -> RunListener | None:
    """Asked for each run until somebody hears: a program may set its providers at any time."""
    global _telemetry, _idle, _absent
    try:
        trace, metrics = map(import_module, API)
        providers = (trace.get_tracer_provider(), metrics.get_meter_provider())
        if all(map(is_, providers, _idle)):
            return None
        if all(type(provider).__module__.startswith(API) for provider in providers):
            _idle = providers
            return None
        from hookscope.telemetry.run_listener import Telemetry

        _telemetry = Telemetry()
    except Exception:  # another thing of that name, too old a one, or a provider that cannot be made
        _absent = True
    return _telemetry


def __getattr__(name: str) -> Any:
    if name != "Telemetry":
        raise AttributeError(f"module 'hookscope.otel' has no attribute {name!r}")
    from hookscope.telemetry.run_listener import Telemetry

    return Telemetry
