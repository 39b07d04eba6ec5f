"""All that is known of the taps of one host, in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.values import dataclass
from hookscope.workbench.tap.lists import Lists, lists_of
from hookscope.workbench.tap.status import Recorded, TapStatus, recorded_in, taps_in

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View


@dataclass(frozen=True, slots=True)
class Report:
    """How the taps stand, what they recorded, and what that says of the hooks."""

    taps: tuple[TapStatus, ...]
    recorded: Recorded
    lists: Lists


def report_of(bench: Workbench, view: View) -> Report:
    """Reads the whole spool; runs nothing. Raises OSError."""
    return Report(taps_in(bench, view), recorded_in(view), lists_of(view))
