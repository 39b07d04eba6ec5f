"""Runs and handlers as spans and metrics of OpenTelemetry, for programs that use it.

Nothing of it is loaded before the program itself has loaded OpenTelemetry's API, and nothing is told as long
as it has set up no provider of its own.

    telemetry.py   a run's span, a span for each handler, the counters
    attributes.py  pure: what a run and a result are called there
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.core.runs import RunListener
    from hookscope.otel.telemetry import Telemetry as Telemetry

API = ("opentelemetry.trace", "opentelemetry.metrics")

_telemetry: Telemetry | None = None
_absent = False


def listener() -> RunListener | None:
    """What tells of runs in this process; None where nobody would hear it."""
    if API[0] not in sys.modules or _absent:
        return None
    return _heard()


def _heard() -> RunListener | None:
    global _telemetry, _absent
    try:
        from opentelemetry import metrics, trace

        providers = (trace.get_tracer_provider(), metrics.get_meter_provider())
        if all(_idle(provider) for provider in providers):
            return None
        if _telemetry is None:
            from hookscope.otel.telemetry import Telemetry

            _telemetry = Telemetry()
    except Exception:  # another thing of that name, too old a one, or a provider that cannot be made
        _absent = True
    return _telemetry


def _idle(provider: object) -> bool:
    """Is it one of the API's own, which do nothing."""
    return type(provider).__module__.startswith(API)


def __getattr__(name: str) -> Any:
    if name != "Telemetry":
        raise AttributeError(f"module 'hookscope.otel' has no attribute {name!r}")
    from hookscope.otel.telemetry import Telemetry

    return Telemetry
