"""What JavaScript finds below a value of JSON, and which values it takes for true."""

from collections.abc import Mapping
from typing import Any, Final


def is_truthy(value: Any) -> bool:
    """As JavaScript sees it: an empty list or mapping counts."""
    return bool(value) or (value is not None and isinstance(value, (list, Mapping)))


class _JavascriptFunction:
    """Something that is there, and is neither a list nor a mapping."""

    def __repr__(self) -> str:
        return "a function of the language"


JAVASCRIPT_FUNCTION: Final = _JavascriptFunction()
_NAMES_OF_MAPPINGS = (
    "constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ "
    "isPrototypeOf propertyIsEnumerable toString valueOf toLocaleString"
)
_NAMES_OF_LISTS = (
    "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap "
    "forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice "
    "some sort splice toReversed toSorted toSpliced unshift values with"
)
OBJECT_MEMBERS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_NAMES_OF_MAPPINGS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": None,
}
ARRAY_MEMBERS: Final[Mapping[str, Any]] = {
    **OBJECT_MEMBERS,
    **dict.fromkeys(_NAMES_OF_LISTS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": OBJECT_MEMBERS,
    "length": 0,
}


def javascript_member(value: Any, name: str, otherwise: Any = None) -> Any:
    """The value at `name`; `otherwise` where there is nothing, or nothing to look into."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        return OBJECT_MEMBERS if name == "__proto__" else OBJECT_MEMBERS.get(name, otherwise)
    if isinstance(value, list):
        if name == "length":
            return len(value)
        if is_array_index(name) and int(name) < len(value):
            return value[int(name)]
        return ARRAY_MEMBERS if name == "__proto__" else ARRAY_MEMBERS.get(name, otherwise)
    return otherwise


def is_array_index(name: str) -> bool:
    """Is it a place in a list, as JavaScript writes one."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")
