"""What the published schemas say of the parts of SARIF 2.1.0 and of JUnit XML that Hookscope writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import jsonschema

TEXT: dict[str, Any] = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
PLACE = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(required: str = "", **members: Any) -> dict[str, Any]:
    """An object that has these members at most."""
    return {
        "type": "object",
        "properties": members,
        "required": required.split(),
        "additionalProperties": False,
    }


def unique(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True}


URI = {"type": "string", "format": "uri-reference"}
MESSAGE = closed("text", text=TEXT)
RULE = closed(
    "id",
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    helpUri={"type": "string", "format": "uri"},
    defaultConfiguration=closed(level=LEVEL),
)
REGION = closed(startLine=PLACE, startColumn=PLACE, endLine=PLACE, endColumn=PLACE)
LOCATION = closed(
    physicalLocation=closed(
        "artifactLocation", artifactLocation=closed(uri=URI, uriBaseId=TEXT), region=REGION
    )
)
RESULT = closed(
    "message",
    ruleId=TEXT,
    ruleIndex=COUNT,
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)
DRIVER = closed(
    "name", name=TEXT, version=TEXT, informationUri={"type": "string", "format": "uri"}, rules=unique(RULE)
)
INVOCATION = closed(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications={"type": "array", "items": closed("message", level=LEVEL, message=MESSAGE)},
)
RUN = closed(
    "tool",
    tool=closed("driver", driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations={"type": "array", "items": INVOCATION},
    originalUriBaseIds={"type": "object", "additionalProperties": closed(uri=URI, description=MESSAGE)},
    results={"type": "array", "items": RESULT},
)
SARIF = closed(
    "version runs", **{"$schema": URI}, version={"const": "2.1.0"}, runs={"type": "array", "items": RUN}
)


def sarif_faults(log: Any) -> list[str]:
    """What the standard does not allow in a SARIF log."""
    return [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(SARIF).iter_errors(log)
    ]


# Element → its attributes (required ones first), and the elements in it. Names are those of Jenkins's schema.
ELEMENTS: dict[str, tuple[str, str, str]] = {
    "testsuite": ("name tests failures errors", "skipped time timestamp", "testcase system-out system-err"),
    "testcase": ("name", "classname time", "skipped error failure system-out system-err"),
    "failure": ("", "message type", ""),
    "error": ("", "message type", ""),
    "skipped": ("", "message type", ""),
    "system-out": ("", "", ""),
    "system-err": ("", "", ""),
}
NUMBERS = {"time": r"\d+\.\d+", **dict.fromkeys(("tests", "failures", "errors", "skipped"), r"\d+")}


def junit_faults(element: Element) -> Iterator[str]:
    """Yield what the schema does not allow in a JUnit report, and counts that are wrong."""
    required, optional, inside = (words.split() for words in ELEMENTS[element.tag])
    yield from (f"{element.tag} without {name}" for name in required if name not in element.attrib)
    for name, value in element.attrib.items():
        if name not in (*required, *optional) or not re.fullmatch(NUMBERS.get(name, r"(?s).*"), value):
            yield f"{element.tag} {name}={value}"
    for part in element:
        yield from [f"{part.tag} in {element.tag}"] if part.tag not in inside else junit_faults(part)
    counted = {"tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error"}
    for name, path in counted.items() if element.tag == "testsuite" else ():
        if element.get(name) != str(len(element.findall(path))):
            yield f"{name} is {element.get(name)}"
