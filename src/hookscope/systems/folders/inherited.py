"""What JavaScript finds at a name of a value that JSON can hold: what it has itself, then what all such
values have from their language.

A program that walks settings without asking whose a name is finds `toString` everywhere: a function, which
counts as set and leads no further. Recorded in milady 19 and eliza 19, and in openclaw req-09.
"""

from collections.abc import Mapping
from typing import Any, Final


class _Function:
    """Something that is there, and is neither a list nor a mapping."""

    def __repr__(self) -> str:
        return "a function of the language"


FUNCTION: Final = _Function()
_NAMES_OF_MAPPINGS = (
    "constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ "
    "isPrototypeOf propertyIsEnumerable toString valueOf toLocaleString"
)
_NAMES_OF_LISTS = (
    "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap "
    "forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice "
    "some sort splice toReversed toSorted toSpliced unshift values with"
)
OF_MAPPINGS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_NAMES_OF_MAPPINGS.split(), FUNCTION),
    "__proto__": None,
}
OF_LISTS: Final[Mapping[str, Any]] = {
    **OF_MAPPINGS,
    **dict.fromkeys(_NAMES_OF_LISTS.split(), FUNCTION),
    "__proto__": OF_MAPPINGS,
    "length": 0,
}


def member(value: Any, name: str, otherwise: Any = None) -> Any:
    """The value at `name`; `otherwise` where there is nothing, or nothing to look into."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        return OF_MAPPINGS if name == "__proto__" else OF_MAPPINGS.get(name, otherwise)
    if isinstance(value, list):
        if name == "length":
            return len(value)
        if is_index(name) and int(name) < len(value):
            return value[int(name)]
        return OF_LISTS if name == "__proto__" else OF_LISTS.get(name, otherwise)
    return otherwise


def is_index(name: str) -> bool:
    """Is it a place in a list, as JavaScript writes one."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")
