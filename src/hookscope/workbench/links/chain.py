"""All links of one hook, in their order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hookscope.core.bystanders import may_run
from hookscope.core.standing import Standing
from hookscope.journal import Wanted
from hookscope.workbench.links.arrival import arrived
from hookscope.workbench.links.last_run import ran, result_of
from hookscope.workbench.links.link import Link
from hookscope.workbench.links.load import Loaded, export, loaded_of, loads

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View


def links_of(bench: Workbench, view: View, row: Standing) -> tuple[Link, ...]:
    """The links of one hook, in their order. Blocks; raises OSError where the journal cannot be read."""
    if row.verdict.shadowed_by is not None or row.hook.handler is None:
        return ()
    journal, now = bench.record.journal(view.host), datetime.now(UTC)
    last = next(iter(journal.select(Wanted(hook=row.hook.name), 1)), None)
    last = last if last is not None and result_of(last, row) is not None else None
    loaded = loaded_of(bench, view, row, journal, last, now)
    return (
        loads(loaded, row),
        export(loaded),
        _registered(view, row, loaded),
        arrived(view, row, journal, now),
        ran(row, last, now),
    )


def _registered(view: View, row: Standing, loaded: Loaded) -> Link:
    keys = [call.key for call in view.registry.registrations if call.hook is row.hook]
    if keys and loaded.passed is False:
        return Link("registered", None, f"as {', '.join(dict.fromkeys(keys))}, once it loads")
    if keys:
        return Link("registered", True, f"as {', '.join(dict.fromkeys(keys))}")
    if row.events is None:
        return Link("registered", None, "what it registers is known after a load")
    stopped = not may_run(row)
    return Link("registered", False, f"it is {row.state}" if stopped else "it registers nothing")
