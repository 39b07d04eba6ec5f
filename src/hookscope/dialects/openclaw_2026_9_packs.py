"""The texts of `openclaw hooks install | update` of OpenClaw 2026.9, as recorded in cli-02 and cli-03."""

from hookscope.core.host_command import Said
from hookscope.values import dataclass

NO_EXTENSIONS = (
    "package.json missing openclaw.extensions; update the plugin package to include openclaw.extensions "
    '(for example ["./dist/index.js"]). See https://docs.openclaw.ai/help/troubleshooting'
    "#plugin-install-fails-with-missing-openclaw-extensions"
)


@dataclass(frozen=True, slots=True)
class Packs:
    """Implements core's PackWords."""

    def deprecated(self, verb: str) -> tuple[str, ...]:
        return (f"`openclaw hooks {verb}` is deprecated; use `openclaw plugins {verb}`.",)

    def warned(self, spec: str) -> tuple[str, ...]:
        return (
            f"WARNING - Installing plugin from local path: {spec}",
            "This source is outside ClawHub review and trust metadata. Only continue if you trust the "
            "publisher, package contents, and install source.",
        )

    def unasked(self) -> Said:
        return Said(1, errors=("Install cancelled; rerun with --force after reviewing the source.",))

    def absent(self, path: str) -> Said:
        return Said(1, errors=(f"Plugin path not found: {path}",))

    def only_registry(self) -> Said:
        return Said(1, errors=("--pin is only supported with npm registry installs.",))

    def refused(self, reason: str, *, packaged: bool) -> Said:
        first = NO_EXTENSIONS if packaged else "extracted package missing package.json"
        return Said(1, errors=(first, f"Also not a valid hook pack: {reason}"))

    def installed(self, name: str, target: str) -> tuple[str, ...]:
        return (
            f"Installing to {target}…",
            f"Installed hook pack: {name}",
            "Hook install/link config can activate immediately in hybrid mode; code-only updates and reload "
            "mode off need a Gateway restart.",
        )

    def skipped(self, name: str, source: str) -> str:
        return f'Skipping hook pack "{name}" (source: {source}).'

    def unknown(self, name: str) -> Said:
        hint = 'Run "openclaw plugins list" or "openclaw hooks list" to inspect installed packages.'
        return Said(1, errors=(f'No tracked plugin or hook pack found for "{name}". {hint}',))

    def nothing_named(self) -> Said:
        return Said(1, errors=("Provide plugin or hook-pack ids, or use --all.",))
