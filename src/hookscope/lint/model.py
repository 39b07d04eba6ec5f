"""What a rule is and what it says. Frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from hookscope.core.hooks import Edit, Place
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.lint.subject import Subject


class Severity(StrEnum):
    """How much it matters. Errors alone make a lint fail."""

    ERROR = "error"  # the hook, or a part of it, does not do what it says
    WARNING = "warning"  # it may not, elsewhere or one day
    HINT = "hint"  # worth knowing


@dataclass(frozen=True, slots=True)
class Said:
    """What a rule says of a hook: one sentence, where, and the next step."""

    severity: Severity
    place: Place
    text: str
    then: str = ""
    fix: tuple[Edit, ...] | None = None  # None: none is safe; the edits are of values in HOOK.md or JSON


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found in one hook."""

    rule: str
    severity: Severity
    hook: str
    place: Place
    text: str
    then: str
    fix: tuple[Edit, ...] | None
    docs: str  # where the rule is explained


@dataclass(frozen=True, slots=True)
class NotLinted:
    """A rule that could not look, at one file or at all, and why."""

    rule: str
    why: str


Check = Callable[["Subject"], Iterable[Said]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `check` is pure: the same subject, the same answer."""

    id: str
    text: str  # its documentation, as `documented` reads it
    check: Check
    reads_source: bool = False  # does it want the facts of the handler's source
    by_host: bool = False  # may its answer differ from host to host

    @property
    def docs(self) -> str:
        """The command that explains it."""
        return f"hookscope lint --explain {self.id}"
