"""Checks settings with a closed schema: one unknown key or wrong type makes the host refuse all settings.

A shape is `"boolean"`, `"string"`, `"number"`, `"int"` or `"null"`; `""` for any value; `"=a|b"` for one of
these strings; `["string"]` for a list; `{"|": [...]}` for one of several shapes; `{"key": shape}` for an
object with these keys. `OTHER_KEYS` in an object gives the shape of other keys, which are refused otherwise;
the keys in `REQUIRED_KEYS` must be present. `{EACH_KEY: shape}` is an object with any keys, which must match
`KEY_PATTERN` if that is given. Limits may follow a type: `"int >=1 <=9"`, `["string", "<=5"]` for a list of
at most five, `"string >=1 ~^[a-z]+$"` for a text with a least length and a pattern.

Source: cfg-02 to cfg-04. The messages are those of the host's schema library.
"""

import json
import math
import operator
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from hookscope.formats.positions import KeyPath

Issue = tuple[KeyPath, str]
Shape = Any
EACH_KEY: Final = "*"
KEY_PATTERN: Final = "="
OTHER_KEYS: Final = "..."
REQUIRED_KEYS: Final = "!"
ALTERNATIVES: Final = "|"
SPECIAL_KEYS: Final = frozenset({EACH_KEY, KEY_PATTERN, OTHER_KEYS, REQUIRED_KEYS, ALTERNATIVES})
_LITERAL: Final = "="
UNKNOWN_KEY: Final = "Unrecognized key"
TOO_SMALL, TOO_BIG, NO_MATCH = "Too small", "Too big", "Invalid string"
_RIGHT_TYPE: Final = (UNKNOWN_KEY, TOO_SMALL, TOO_BIG, NO_MATCH)  # issues of a value of the right type
_HINTS: Final = {">=": "minimum:", ">": "must be greater than", "<=": "maximum:", "<": "must be less than"}
LARGEST_INT: Final = 2**53 - 1  # that JavaScript counts exactly
_COMPARED: Final = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
_PLAIN_KEY: Final = "[A-Za-z_$][A-Za-z0-9_$:-]*"
_NEVER_READ: Final = "__proto__"  # a key that JavaScript hosts skip
_MISSING: Final = object()


def issues_in(value: object, shape: Shape, path: KeyPath) -> Iterator[Issue]:
    """Yield the issues of `value`, which is at `path`: a path and a message for each."""
    match shape:
        case "":
            return
        case str() if shape.startswith(_LITERAL):
            yield from _literal_issues(value, shape, path)
        case str():
            yield from _plain_issues(value, shape, path)
        case [item_shape, *limits]:
            if not isinstance(value, list):
                yield wrong_type_issue("array", value, path)
                return
            for number, item in enumerate(value):
                yield from issues_in(item, item_shape, (*path, number))
            yield from _limit_issues(value, "".join(limits), path)
        case {"|": alternatives}:
            yield from _issues_of_alternatives(value, alternatives, path)
        case _ if not isinstance(value, Mapping):
            yield wrong_type_issue("record" if EACH_KEY in shape else "object", value, path)
        case {"*": item_shape}:
            for key, item in value.items():
                if KEY_PATTERN in shape and not re.fullmatch(shape[KEY_PATTERN], key):
                    yield (*path, key), "Invalid key in record"
                elif key != _NEVER_READ:
                    yield from issues_in(item, item_shape, (*path, key))
        case _:
            yield from _issues_of_object(value, shape, path)


def _literal_issues(value: object, shape: str, path: KeyPath) -> Iterator[Issue]:
    texts = shape.removeprefix(_LITERAL).split("|")
    if isinstance(value, str) and value in texts:
        return
    names = [json.dumps(text) for text in texts]
    if len(names) == 1:
        yield path, f"Invalid input: expected {names[0]} (allowed: {names[0]})"
    else:
        yield path, f"Invalid option: expected one of {'|'.join(names)}"


def _plain_issues(value: Any, shape: str, path: KeyPath) -> Iterator[Issue]:
    kind, _, limits = shape.partition(" ")
    expected = "number" if kind == "int" else kind
    if json_type_name(value) != expected:
        allowed = " (allowed: true, false)" if kind == "boolean" else ""
        yield wrong_type_issue(expected, value, path, allowed)
    elif kind == "int" and isinstance(value, float) and not value.is_integer():
        yield wrong_type_issue("int", value, path)
    elif kind == "int" and value > LARGEST_INT:
        yield path, f"{TOO_BIG}: expected int to be <={LARGEST_INT}"
    else:
        yield from _limit_issues(value, limits, path)


def _limit_issues(value: Any, limits: str, path: KeyPath) -> Iterator[Issue]:
    """Yield an issue for each limit that a number, or the length of a text or a list, exceeds."""
    bounds, _, pattern = limits.partition("~")
    size, what, unit = value, "number to be ", ""
    if isinstance(value, str):
        size, what, unit = (
            len(value.encode("utf-16-le", "surrogatepass")) // 2,
            "string to have ",
            " characters",
        )
    elif isinstance(value, list):
        size, what, unit = len(value), "array to have ", " items"
    for bound in bounds.split():
        sign = bound.rstrip("-.0123456789")
        if not _COMPARED[sign](size, float(bound.removeprefix(sign))):
            hint = "" if unit else f" ({_HINTS[sign]} {bound.removeprefix(sign)})"
            yield path, f"{TOO_SMALL if '>' in sign else TOO_BIG}: expected {what}{bound}{unit}{hint}"
    if pattern and not re.search(re.sub(r"\$$", r"\\Z", pattern), value, re.ASCII):
        yield path, f"{NO_MATCH}: must match pattern /{pattern}/"


def _issues_of_alternatives(value: object, alternatives: list[Shape], path: KeyPath) -> Iterator[Issue]:
    """Yield the issues of the only alternative whose types are right, else one issue for all."""
    found = [list(issues_in(value, shape, path)) for shape in alternatives]
    if not all(found):
        return
    close = [issues for issues in found if all(text.startswith(_RIGHT_TYPE) for _, text in issues)]
    if len(close) == 1:
        yield from close[0]
        return
    allowed: list[str] = []
    for shape in alternatives:
        if shape == "boolean":
            allowed += ("true", "false")
        elif isinstance(shape, str) and shape.startswith(_LITERAL):
            allowed += map(json.dumps, shape.removeprefix(_LITERAL).split("|"))
        else:
            yield path, "Invalid input"
            return
    yield path, f"Invalid input (allowed: {', '.join(allowed)})"


def _issues_of_object(value: Mapping[str, Any], shape: Mapping[str, Any], path: KeyPath) -> Iterator[Issue]:
    required = shape.get(REQUIRED_KEYS, ())
    for key, item_shape in shape.items():
        if key not in (OTHER_KEYS, REQUIRED_KEYS) and (key in value or key in required):
            yield from issues_in(value.get(key, _MISSING), item_shape, (*path, key))
    if OTHER_KEYS not in shape:
        yield from unknown_keys(value, shape, path)
    for key, item in value.items() if shape.get(OTHER_KEYS) else ():
        if key not in shape:
            yield from issues_in(item, shape[OTHER_KEYS], (*path, key))


def wrong_type_issue(expected: str, value: object, path: KeyPath, allowed: str = "") -> Issue:
    return path, f"Invalid input: expected {expected}, received {json_type_name(value)}{allowed}"


def json_type_name(value: object) -> str:
    """Return the type of a JSON value as the schema library names it."""
    match value:
        case None:
            return "null"
        case _ if value is _MISSING:
            return "undefined"
        case bool():
            return "boolean"
        case str():
            return "string"
        case float() if math.isnan(value):
            return "NaN"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def unknown_keys(block: Mapping[str, Any], known: Collection[str], path: KeyPath) -> Iterator[Issue]:
    """Yield one issue for all keys of `block` that are not in `known`, if any."""
    names = [f'"{name}"' for name in block if name not in known]
    if names:
        yield path, f"{UNKNOWN_KEY}{'s' if len(names) > 1 else ''}: {', '.join(names)}"


def path_text(path: KeyPath) -> str:
    """Return a path as the host writes it.

    For example `hooks.internal.entries["a b"].env` and `load.extraDirs[0]`.
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(_PLAIN_KEY, step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text
