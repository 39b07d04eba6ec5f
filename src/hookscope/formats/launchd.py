"""A launchd job: what its property list says of the environment it runs in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hookscope.values import dataclass

from .places import FormatError, Span


@dataclass(frozen=True, slots=True)
class LaunchdJob:
    """The parts of a property list that decide what its program sees. What has another type is left out."""

    label: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)  # values may be secrets
    user: str = ""
    folder: str = ""


def read_launchd(source: bytes) -> LaunchdJob:
    """A property list, as XML or binary.

    Raises:
        FormatError: it is no property list, or no dictionary.
    """
    import plistlib  # here: few read one

    try:
        value = plistlib.loads(source)
    except Exception as error:  # of a parser, of offsets, of dates: the module promises no type
        raise FormatError(f"no property list: {str(error) or type(error).__name__}", _HEAD) from None
    if not isinstance(value, Mapping):
        raise FormatError("the property list is no dictionary", _HEAD)
    listed = value.get("EnvironmentVariables")
    pairs = listed.items() if isinstance(listed, Mapping) else ()
    return LaunchdJob(
        _text(value.get("Label")),
        {name: text for name, text in pairs if isinstance(name, str) and isinstance(text, str)},
        _text(value.get("UserName")),
        _text(value.get("WorkingDirectory")),
    )


_HEAD = Span(1, 1, 0, 0)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
