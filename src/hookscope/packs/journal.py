"""What is about to be done, written down before it is: whoever comes after a crash finishes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from hookscope.changes.files import replace_file
from hookscope.core.surroundings import RealFiles
from hookscope.packs.bytes_in_json import as_bytes, as_text
from hookscope.packs.edits import Setting, Wanted, setting_from
from hookscope.values import dataclass

Phase = Literal["staging", "commit", "back", "clean"]
PHASES: tuple[Phase, ...] = ("staging", "commit", "back", "clean")
STAGING = ".hookscope-staging"


@dataclass(frozen=True, slots=True)
class Swap:
    """One folder in a host's folder: what takes its place, and where the old one waits."""

    target: Path
    fresh: Path | None  # None: it goes
    aside: Path


@dataclass(frozen=True, slots=True)
class Intent:
    """All of one install, update or uninstall."""

    what: str  # for people
    host: Path  # whose packs they are
    phase: Phase
    swaps: tuple[Swap, ...] = ()
    made: tuple[Path, ...] = ()  # folders that are made on the way
    file: Path | None = None  # the settings
    old: bytes | None = None
    new: bytes | None = None
    unset: tuple[Setting, ...] = ()  # what `new` takes back and sets, for a file that is neither
    wanted: tuple[Wanted, ...] = ()
    records: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    keep: tuple[tuple[Path, Path], ...] = ()  # files that only stood there, and where they are kept
    empty: tuple[Path, ...] = ()  # folders that go, where nothing is in them

    @property
    def staging(self) -> tuple[Path, ...]:
        """The folders that only this transaction uses."""
        return tuple(dict.fromkeys(swap.aside.parent for swap in self.swaps))


def write_intent(file: Path, intent: Intent) -> None:
    """Durable when it returns. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "what": intent.what,
        "host": str(intent.host),
        "phase": intent.phase,
        "swaps": [
            [str(swap.target), swap.fresh and str(swap.fresh), str(swap.aside)] for swap in intent.swaps
        ],
        "made": [str(folder) for folder in intent.made],
        "file": intent.file and str(intent.file),
        "old": as_text(intent.old),
        "new": as_text(intent.new),
        "unset": [setting.document() for setting in intent.unset],
        "wanted": [[list(want.path), want.value, want.item] for want in intent.wanted],
        "records": {name: record and dict(record) for name, record in intent.records.items()},
        "keep": [[str(one), str(to)] for one, to in intent.keep],
        "empty": [str(folder) for folder in intent.empty],
    }
    replace_file(file, json.dumps(document, indent=2).encode() + b"\n")


def read_intent(file: Path) -> Intent | None:
    """None where nothing was interrupted. Raises ValueError for a file that nobody of us has written."""
    try:
        told = json.loads(RealFiles().read(file))
        return Intent(
            what=str(told["what"]),
            host=Path(told["host"]),
            phase=PHASES[PHASES.index(told["phase"])],
            swaps=tuple(
                Swap(Path(target), Path(fresh) if fresh else None, Path(aside))
                for target, fresh, aside in told["swaps"]
            ),
            made=tuple(map(Path, told["made"])),
            file=Path(told["file"]) if told["file"] else None,
            old=as_bytes(told["old"]),
            new=as_bytes(told["new"]),
            unset=tuple(map(setting_from, told["unset"])),
            wanted=tuple(Wanted(tuple(path), value, bool(item)) for path, value, item in told["wanted"]),
            records=dict(told["records"]),
            keep=tuple((Path(one), Path(to)) for one, to in told["keep"]),
            empty=tuple(map(Path, told["empty"])),
        )
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None
