"""Report runs and handlers as OpenTelemetry spans and metrics, once the program has a provider.

This is the public module; `hookscope.telemetry` implements it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from operator import is_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.model.executor import RunListener
    from hookscope.telemetry.run_listener import Telemetry as Telemetry

API = ("opentelemetry.trace", "opentelemetry.metrics")

_telemetry: Telemetry | None = None  # set at the first run with a provider
_idle: tuple[object, ...] = (None, None)  # the API's own providers, which do nothing
_absent = False


def listener() -> RunListener | None:
    """Return the listener that reports runs of this process; None without a provider."""
    if _telemetry is not None or _absent or API[0] not in sys.modules:
        return _telemetry
    return _start_listening()


def _start_listening() -> RunListener | None:
    """Create the listener if the program has set a provider.

    Called before each run until then, since a program may set its providers at any time.
    """
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
    except Exception:  # not OpenTelemetry, too old, or a broken provider
        _absent = True
    return _telemetry


def __getattr__(name: str) -> Any:
    if name != "Telemetry":
        raise AttributeError(f"module 'hookscope.otel' has no attribute {name!r}")
    from hookscope.telemetry.run_listener import Telemetry

    return Telemetry
