"""A package that is to be installed, copied or linked: what the plans of both have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.standing import Standing
from hookscope.lint.reading import Uses
from hookscope.packs.fetched import Fetched
from hookscope.packs.package import Package
from hookscope.packs.record import Digests, Record
from hookscope.workbench.packs.apart import left_behind
from hookscope.workbench.packs.planned import Action, HookPlan
from hookscope.workbench.packs.settled import Settled, made_for
from hookscope.workbench.packs.uses import SHARED, Capabilities, capabilities_of
from hookscope.workbench.refusal import Refusal

NEXT = "Nothing was written."
WHOLE = "--link uses a folder as a whole"


class Incoming:
    """What was fetched, with its hooks as the host reads them, and what it takes the place of."""

    def __init__(
        self, fetched: Fetched, package: Package, hooks: Sequence[Hook], name: str, before: Record | None
    ) -> None:
        self.fetched = fetched
        self.package = package
        self.hooks = hooks
        self.name = name
        self.before = before  # what is installed under that name now

    @property
    def action(self) -> Action:
        """What it is to its user."""
        return "install" if self.before is None else "update"

    @cached_property
    def able(self) -> Capabilities:
        """What its sources say that it does. Blocks while they are parsed."""
        return capabilities_of(self.package.tree, self.package.hooks)

    @property
    def shared(self) -> Uses:
        """What sources use that belong to none of its hooks alone."""
        return self.able.uses.get(SHARED, Uses())

    def plans(
        self,
        places: Sequence[Path],
        rows: Mapping[Path | None, Standing],
        host: Host,
        there: str,
        left: Sequence[str] = (),
    ) -> tuple[HookPlan, ...]:
        """Its hooks as they would stand: `rows`, by their folder. Raises Refusal for those not among them.

        `left`: the files of the package that would not be there.
        """
        placed = list(zip(self.hooks, places, self.package.hooks, strict=True))
        if lost := [hook.name for hook, path, _ in placed if path not in rows]:
            raise Refusal(f"{host.dialect.product} would not find {', '.join(lost)} {there}.", NEXT)
        return tuple(
            HookPlan(hook.name, path, self._noted(rows[path], where, left), self.able.uses.get(where, Uses()))
            for hook, path, where in placed
        )

    def _noted(self, row: Standing, where: str, left: Sequence[str]) -> Standing:
        lost = left_behind(self.able.imports, frozenset(left), where) if left else ()
        notes = (f"{source} imports {name}, which stays behind: {WHOLE}" for source, name in lost)
        return replace(row, notes=(*row.notes, *notes))

    def record(self, host: Host, settings: Settled, folders: Mapping[Path, Digests]) -> Record:
        """What is known of it once it is installed into these folders."""
        return Record(
            id=self.name,
            source=self.fetched.spec.source,
            spec=self.fetched.spec.text,
            resolved=self.fetched.resolved,
            version=self.package.version or self.fetched.version,
            integrity=self.fetched.integrity,
            at=datetime.now(UTC),
            dialect=host.dialect.name,
            hooks=tuple(hook.name for hook in self.hooks),
            folders=folders,
            settings_file=settings.change.path,
            settings=settings.settings,
            snapshot=settings.snapshot,
            made=made_for(self.before, (*folders, settings.change.path)),
        )
