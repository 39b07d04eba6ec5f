"""Compares Hookscope's answers with the installed host's, and writes bundles for problem reports."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.analysis.support_bundle import BUNDLE_NAME, new_bundle
from hookscope.analysis.verification import Verifier, with_node
from hookscope.console.dialogs.verification import VerificationScreen, VerifyQuestion
from hookscope.console.state.messages import error_text
from hookscope.console.state.state_changes import VerificationShown

if TYPE_CHECKING:
    from hookscope.analysis.verification_result import Verification
    from hookscope.console.context import ConsoleContext

VERIFY_GROUP = "verify"
SECONDS_TO_END = 1.0  # seconds that a closing console waits for the program to end


class VerificationController:
    """Asks, then starts the host's program from a thread. One verification runs at a time."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._verifier: Verifier | None = None  # the running verifier, or the one that waits for an answer
        self._ended = threading.Event()
        self._ended.set()
        self._last: Verification | None = None

    def ask(self) -> None:
        """Find the host's program, and ask whether to start it."""
        if self._verifier is not None:
            self.context.notify("A verification is already running.")
            return
        options = self.context.bench.options
        self.context.bridge.ask(VERIFY_GROUP, lambda: Verifier(options), self._found, opens=True, scans=True)

    def _found(self, verifier: Verifier) -> None:
        if self._verifier is not None or self.context.is_covered:
            self._forget(verifier)
            return
        self._verifier = verifier
        self.context.push_dialog(VerifyQuestion(verifier.question), self._answered)

    def _answered(self, yes: bool | None) -> None:
        verifier = self._verifier
        if verifier is None:
            return
        if not yes:
            self._verifier = None
            self._forget(verifier)
            self.context.notify("Nothing was started.")
            return
        product = verifier.host.dialect.product
        self.context.notify(f"Comparing with {product} {verifier.program.version}. This may take a minute.")
        self._ended.clear()

        def verifying() -> Verification | str:
            try:
                return with_node(verifier).run()
            except Exception as error:  # mostly a Refusal
                return error_text(error)
            finally:
                verifier.bench.close_now()
                self._ended.set()

        self.context.bridge.ask(VERIFY_GROUP, verifying, self._verified, scans=True)

    def _forget(self, verifier: Verifier) -> None:
        self.context.bridge.ask(VERIFY_GROUP, verifier.bench.close_now, lambda _: None, scans=True)

    def _verified(self, result: Verification | str) -> None:
        self._verifier = None
        if isinstance(result, str):
            self.context.log_line("verify", result, "warning", toast=result)
            return
        self._last = result
        sign = "✓" if result.agrees else "≠"
        self.context.change(VerificationShown(f"{sign} {result.summary} with {result.product}"))
        level = "info" if result.agrees else "warning"
        subject = f"{result.product} {result.version}"
        self.context.log_line("verify", f"{sign} {result.summary}", level, subject)
        if not self.context.is_covered:
            self.context.push_dialog(VerificationScreen(result), self._left)

    def _left(self, answer: str | None) -> None:
        if answer == "report":
            self.write_report()

    def write_report(self) -> None:
        """Write a bundle about this host into the current folder, with the comparison if it is up to date."""
        view = self.context.scanned()
        if view is None:
            return
        bench = self.context.bench
        current = self._last if self.context.state.verified else None
        document = current.document() if current is not None else None

        def written(path: Path) -> None:
            text = f"Wrote {view.host.machine.short(path)} without secrets. Read it before you send it."
            self.context.log_line("report", text, subject=path.name, toast=text)

        self.context.bridge.ask(
            BUNDLE_NAME, lambda: new_bundle(bench.setup.machine.cwd, bench, view, document), written
        )

    def close(self) -> None:
        """End the running program, and wait a moment for its copy to be removed."""
        if self._verifier is not None:
            self._verifier.stop()
            self._ended.wait(SECONDS_TO_END)
