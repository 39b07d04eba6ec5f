"""All controllers of the main screen, created on first use, each with only what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console.controllers.preferences_controller import PreferencesController
from hookscope.console.controllers.restore_controller import RestoreController
from hookscope.console.controllers.scan_controller import ScanController, SourceReader
from hookscope.console.controllers.workspace_controller import TrustController, WorkspaceController

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import AppServices, ConsoleContext
    from hookscope.console.controllers.edit_controller import EditController, EditorController, FixController
    from hookscope.console.controllers.export_controller import ExportController
    from hookscope.console.controllers.fire_controller import FireController
    from hookscope.console.controllers.hosts_controller import HostsController
    from hookscope.console.controllers.packs_controller import PacksController
    from hookscope.console.controllers.real_events_controller import RealEventsController
    from hookscope.console.controllers.run_inspection import CompareController, DebugController
    from hookscope.console.controllers.saved_events_controller import SavedEventsController
    from hookscope.console.controllers.scaffold_controller import ScaffoldController
    from hookscope.console.controllers.verification_controller import VerificationController
    from hookscope.console.controllers.what_if_controller import WhatIfController


class Controllers:
    """Owns the controllers. No controller knows this class or the screen."""

    def __init__(self, context: ConsoleContext, services: AppServices, *, watches: bool) -> None:
        self._context, self._services, self._watches = context, services, watches
        self.restore = RestoreController(context)
        self.preferences = PreferencesController(context, services.themes)
        self.source = SourceReader(context)
        self.scan = ScanController(context, self, watches=watches)
        self.trust = TrustController(context, self.after_failed_scan)
        self.workspaces = WorkspaceController(context, services.app, services.open_workspace)

    def is_created(self, controller: str) -> bool:
        """Return True if this controller was used before."""
        return controller in self.__dict__

    @property
    def firing(self) -> bool:
        """True if an event is being fired, or is about to be, on this host or on several hosts."""
        return self._context.runner.busy or (self.is_created("hosts") and self.hosts.firing)

    # Created on first use, because the first paint needs none of them.

    @cached_property
    def fire(self) -> FireController:
        from hookscope.console.controllers.fire_controller import FireController

        return FireController(self._context, lambda: self.saved, watches=self._watches)

    @cached_property
    def edits(self) -> EditController:
        from hookscope.console.controllers.edit_controller import EditController

        return EditController(self._context, self._reverted)

    def _reverted(self, files: Sequence[Path]) -> None:
        if self.is_created("saved"):
            self.saved.reverted(files)

    @cached_property
    def fixes(self) -> FixController:
        from hookscope.console.controllers.edit_controller import FixController

        return FixController(self._context)

    @cached_property
    def editor(self) -> EditorController:
        from hookscope.console.controllers.edit_controller import EditorController

        return EditorController(self._context, self._services.app)

    @cached_property
    def new(self) -> ScaffoldController:
        from hookscope.console.controllers.scaffold_controller import ScaffoldController

        return ScaffoldController(self._context)

    @cached_property
    def packs(self) -> PacksController:
        from hookscope.console.controllers.packs_controller import PacksController

        return PacksController(self._context)

    @cached_property
    def saved(self) -> SavedEventsController:
        from hookscope.console.controllers.saved_events_controller import SavedEventsController

        return SavedEventsController(self._context)

    @cached_property
    def comparing(self) -> CompareController:
        from hookscope.console.controllers.run_inspection import CompareController

        return CompareController(self._context)

    @cached_property
    def real(self) -> RealEventsController:
        from hookscope.console.controllers.real_events_controller import RealEventsController

        return RealEventsController(self._context, self.source.note_activity)

    @cached_property
    def debugging(self) -> DebugController:
        from hookscope.console.controllers.run_inspection import DebugController

        return DebugController(self._context, self.fire.cancel)

    @cached_property
    def hosts(self) -> HostsController:
        from hookscope.console.controllers.hosts_controller import HostsController

        return HostsController(self._context)

    @cached_property
    def verification(self) -> VerificationController:
        from hookscope.console.controllers.verification_controller import VerificationController

        return VerificationController(self._context)

    @cached_property
    def whatif(self) -> WhatIfController:
        from hookscope.console.controllers.what_if_controller import WhatIfController

        return WhatIfController(
            self._context, lambda: self.firing, lambda places: self.hosts.compare_places(places)
        )

    @cached_property
    def export(self) -> ExportController:
        from hookscope.console.controllers.export_controller import ExportController

        return ExportController(self._context, self._services.app)

    # Scan results, which the ScanController passes on.

    def scanned(self, view: Snapshot) -> None:
        """Pass a new snapshot to all created controllers."""
        self.whatif.scanned(view)
        if self.is_created("hosts"):
            self.hosts.scanned()
        if self.is_created("new"):
            self.new.scanned()
        if self.is_created("packs"):
            self.packs.scanned()
        self._context.bridge.scan_ended()
        if self.is_created("fire"):
            self.fire.scanned()

    def after_failed_scan(self) -> None:
        """Drop the event that waits for trust."""
        if self.is_created("fire"):
            self.fire.trust_failed()

    def after_first_scan(self, view: Snapshot) -> None:
        """Load the runs and the view of earlier sessions."""
        self._context.runner.remember(view)
        self.restore.scanned(view)

    def follow(self, view: Snapshot) -> None:
        """Follow recorded events and external runs; if files are watched, the user's preferences too."""
        self.real.scanned(view)
        if self._watches:
            self.preferences.follow()

    def saved_files(self, paths: frozenset[Path]) -> None:
        """Handle saved files: an armed event may fire."""
        self.fire.saved(paths)

    def close(self) -> None:
        """Stop following, and save the view."""
        self.restore.close()
        self._context.bridge.close()
        if self.is_created("real"):
            self.real.close()
        if self.is_created("packs"):
            self.packs.close()
        if self.is_created("verification"):
            self.verification.close()
        self.preferences.close()
