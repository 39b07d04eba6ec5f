"""Dataclasses whose `__init__` is compiled only for classes with many values.

The standard library compiles six functions for each frozen class when its module is imported, whether or not
the class is used. `hookscope list --json` with ten Python hooks takes 279 ms of CPU with this module and
469 ms with the standard decorator, two thirds more. For readers, type checkers, `fields` and `replace`, the
classes are the standard library's dataclasses. They always have slots.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeAlias

MOST_UNCOMPILED = 32  # values of a class that are made before its `__init__` is compiled
_Fields: TypeAlias = "tuple[dataclasses.Field[Any], ...]"

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        *, slots: bool, frozen: bool = False, eq: bool = True, kw_only: bool = False
    ) -> Callable[[type[Any]], type[Any]]:
        """Return a decorator that does the same as `dataclasses.dataclass`, for classes with slots."""
        assert slots, "values have slots"

        def made(cls: type[Any]) -> type[Any]:
            cls.__doc__ = cls.__doc__ or cls.__name__  # else the standard library sets it to the signature
            cls = _with_fields(cls, kw_only)
            fields = dataclasses.fields(cls)
            methods: dict[str, Any] = {"__init__": _init(cls, fields, frozen), "__repr__": _repr}
            if eq:
                methods |= _comparing(fields, frozen)
            if frozen:
                methods |= _FREEZING
            for name, method in methods.items():
                if name not in cls.__dict__:
                    setattr(cls, name, method)
            return cls

        return made


def _with_fields(cls: type[Any], kw_only: bool) -> type[Any]:
    """Return the class with its fields as slots.

    The standard library parses each annotation that is a text, to find ClassVar, which values do not have. It
    does not get the texts: that saves 3 % of the CPU time of `hookscope list --json`.
    """
    annotations = inspect.get_annotations(cls)
    assert not any("ClassVar" in str(one) for one in annotations.values()), "values have only fields"
    cls.__annotations__ = dict.fromkeys(annotations)
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    cls.__annotations__ = annotations
    for field in dataclasses.fields(cls):
        field.type = annotations.get(field.name, field.type)
    return cls


def _init(cls: type[Any], fields: _Fields, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that sets the fields one by one, and compiles a faster one after some values."""
    positional = [field.name for field in fields if field.init and not field.kw_only]
    accepted = {field.name for field in fields if field.init}
    uncompiled_values = MOST_UNCOMPILED

    def first(self: Any, *arguments: Any, **keywords: Any) -> None:
        nonlocal uncompiled_values
        uncompiled_values -= 1
        contents = {**dict(zip(positional, arguments, strict=False)), **keywords}
        is_valid = len(contents) == len(arguments) + len(keywords) and contents.keys() <= accepted
        if uncompiled_values < 0 or not is_valid or not _set_fields(self, fields, contents):
            cls.__init__ = _compiled(cls, frozen)  # replaces `first`; raises TypeError for wrong arguments
            cls.__init__(self, *arguments, **keywords)

    return first


def _set_fields(value: Any, fields: _Fields, contents: Mapping[str, Any]) -> bool:
    """Set the fields of a new value; return False if a field without a default is missing."""
    for field in fields:
        if field.name in contents:
            content = contents[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            content = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            content = field.default
        elif field.init:
            return False
        else:
            continue  # for __post_init__ to set
        object.__setattr__(value, field.name, content)
    if hasattr(value, "__post_init__"):
        value.__post_init__()
    return True


def _compiled(cls: type[Any], frozen: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"ABSENT": dataclasses.MISSING}
    given: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        name, default, factory = field.name, field.default, field.default_factory
        value = name
        if factory is not dataclasses.MISSING:
            known[f"make_{name}"], default = factory, dataclasses.MISSING
            value = f"make_{name}() if {name} is ABSENT else {name}" if field.init else f"make_{name}()"
        elif not field.init:
            if default is dataclasses.MISSING:
                continue  # for __post_init__ to set
            value = f"default_{name}"
        known[f"default_{name}"] = default
        if field.init:
            optional = default is not dataclasses.MISSING or factory is not dataclasses.MISSING
            (named if field.kw_only else given).append(f"{name}=default_{name}" if optional else name)
        known[f"set_{name}"] = getattr(cls, name).__set__  # the slot's setter works on frozen classes too
        lines.append(f"set_{name}(self, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    signature = ", ".join(["self", *given, *(["*", *named] if named else [])])
    exec(f"def __init__({signature}):\n " + "\n ".join(lines or ["pass"]), known)
    compiled: Callable[..., None] = known["__init__"]
    compiled.__qualname__ = f"{cls.__qualname__}.__init__"  # shown in the TypeError for wrong arguments
    return compiled


def _comparing(fields: _Fields, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__`: equal values have one class and equal fields; frozen ones hash."""
    names = [field.name for field in fields if field.compare]
    if len(names) > 1:
        values: Callable[[Any], Any] = attrgetter(*names)
    else:  # `attrgetter` returns a tuple only for several names

        def values(value: Any) -> Any:
            return tuple(getattr(value, name) for name in names)

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _refuse_setting(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state_of(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _fill(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


# Frozen values refuse changes, but copying and unpickling fill a new value.
_FREEZING = {
    "__setattr__": _refuse_setting,
    "__delattr__": _refuse_deleting,
    "__getstate__": _state_of,
    "__setstate__": _fill,
}


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"
