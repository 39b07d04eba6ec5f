"""A zip file about one host for a problem report: versions, hooks, setup and settings, without secrets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from hookscope.app.json_documents import inventory_document
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.installation import installed_version
from hookscope.model.failure import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.storage.edits.masked_preview import masked_file_text
from hookscope.storage.journal.redaction import Redaction

README = """This bundle describes a Hookscope setup for a problem report. Secrets are masked as
${SECRET:NAME}, and the home folder is written as ~. Read the files before you send them to anybody.
"""
BUNDLE_NAME = "hookscope-report.zip"
MOST_BUNDLES = 100  # in one folder
LARGEST_SETTINGS = 1024 * 1024  # bytes of a settings file that goes into the bundle


def write_bundle(
    target: Path, bench: Workbench, view: Snapshot, version: str, verification: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Write the bundle; return the names of its files. Raises Refusal if `target` exists or on an error."""
    redaction, home = bench.redaction_of(view.host), str(view.host.machine.home)
    files = dict(_files(bench, view, version, verification, redaction))
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # only its user reads it
        with os.fdopen(handle, "wb") as file, ZipFile(file, "w", ZIP_DEFLATED) as bundle:
            for name, text in files.items():
                masked = redaction.masker(text).masked_text(text)
                bundle.writestr(name, masked.replace(home, "~") if len(home) > 1 else masked)
    except FileExistsError:
        raise Refusal(f"{target} already exists.", "Name another file.") from None
    except OSError as error:
        raise Refusal(f"Cannot write {target}: {error_reason(error)}.", "Name another file.") from None
    return tuple(files)


def new_bundle(
    folder: Path, bench: Workbench, view: Snapshot, verification: Mapping[str, Any] | None
) -> Path:
    """Write a bundle under an unused name in the folder, and return its path. Raises Refusal."""
    names = (BUNDLE_NAME, *(f"hookscope-report-{number}.zip" for number in range(2, MOST_BUNDLES)))
    free = next((folder / name for name in names if not os.path.lexists(folder / name)), folder / BUNDLE_NAME)
    write_bundle(free, bench, view, installed_version(), verification)
    return free


def _files(
    bench: Workbench,
    view: Snapshot,
    version: str,
    verification: Mapping[str, Any] | None,
    redaction: Redaction,
) -> Iterator[tuple[str, str]]:
    host = view.host
    yield "README.txt", README
    versions = {
        "hookscope": version,
        "python": sys.version.split()[0],
        "platform": sys.platform,
        "dialect": host.dialect.name,
        "dialect_reason": view.dialect_reason,
    }
    yield "versions.json", _json(versions, redaction)
    yield "list.json", _json(inventory_document(view), redaction)
    yield "doctor.json", _json([asdict(item) for item in bench.doctor(view)], redaction)
    if verification is not None:
        yield "verify.json", _json(verification, redaction)
    if host.settings.exists:
        yield "settings.txt", _settings_text(host.settings.file)


def _settings_text(file: Path) -> str:
    try:
        content = read_regular(file)
    except OSError as error:
        return f"cannot be read: {error_reason(error)}\n"
    if len(content) > LARGEST_SETTINGS:
        return f"{len(content):,} bytes, too large for this bundle\n"
    return masked_file_text(content)


def _json(value: Any, redaction: Redaction) -> str:
    plain = json.loads(json.dumps(value, default=str))
    return json.dumps(redaction.masked_value(plain), indent=2)
