"""What a lint found, as SARIF 2.1.0: the form in which code hosts and editors take findings from any tool."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hookscope.cli.version import version

if TYPE_CHECKING:
    from hookscope.core.hooks import Place
    from hookscope.workbench.hiding import Redaction
    from hookscope.workbench.linting import Documented, Finding, Linted, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"  # what those who read it take for the top of the repository
LEVELS = {"error": "error", "warning": "warning", "hint": "note"}


def sarif(linted: Linted, rules: Sequence[tuple[Rule, Documented]], root: Path, redaction: Redaction) -> str:
    """The whole log, one run of ours. Files below `root` are named from there, others by their address.

    Secrets in findings are masked.
    """
    places = {rule.id: place for place, (rule, _) in enumerate(rules)}
    report = linted.report
    run = {
        "tool": {
            "driver": {"name": "hookscope", "version": version(), "rules": [_rule(*pair) for pair in rules]}
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": f"{one.rule} did not run: {one.why}"}}
                    for one in report.not_run
                ],
            }
        ],
        "results": redaction.value([_result(finding, places, root) for finding in report.findings]),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: Rule, told: Documented) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": told.title},
        "fullDescription": {"text": told.why or told.title},
        "help": {"text": f"{told.why}\n\n`{rule.docs}` shows an example.".lstrip()},
    }


def _result(finding: Finding, places: Mapping[str, int], root: Path) -> dict[str, Any]:
    location = _location(finding.place, root)
    name = "\0".join((finding.rule, location["artifactLocation"]["uri"], finding.text))
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": LEVELS[finding.severity.value],
        "message": {"text": f"{finding.hook}: {finding.text} {finding.then}".rstrip()},
        "locations": [{"physicalLocation": location}],
        # The same finding in the next version of the file, whatever line it has come to.
        "partialFingerprints": {"hookscope/v1": sha256(name.encode("utf-8", "surrogatepass")).hexdigest()},
    }


def _location(place: Place, root: Path) -> dict[str, Any]:
    file = place.file
    if file.is_relative_to(root):
        address = file.relative_to(root).as_posix()
        artifact = {"uri": quote(os.fsencode(address)), "uriBaseId": ROOT}
    else:
        artifact = {"uri": file.as_uri()}
    return {"artifactLocation": artifact, "region": {"startLine": place.line, "startColumn": place.column}}
