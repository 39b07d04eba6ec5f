"""Our dataclasses are the standard library's in all that their users see."""

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import hookscope.values
from hookscope.model.run import Plan


def made(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """A few classes, by this decorator."""

    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = dataclasses.field(default=2, compare=False)
        tags: list[str] = dataclasses.field(default_factory=list, repr=False)
        total: int = dataclasses.field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.x + self.y)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        name: str
        last: str = "-"

    @dataclass(slots=True)
    class Count:
        of: int = 0

    @dataclass(frozen=True, slots=True, eq=False)
    class Itself:
        of: int

        def __repr__(self) -> str:
            return "mine"

    return {"Point": Point, "Named": Named, "Count": Count, "Itself": Itself}


CLASSES = made(hookscope.values.dataclass)
COMPILED = made(hookscope.values.dataclass)
for _ in range(hookscope.values.MOST_UNCOMPILED + 1):
    COMPILED["Point"](1), COMPILED["Named"](1, name="n"), COMPILED["Count"](), COMPILED["Itself"](1)
STANDARD = made(dataclasses.dataclass)


def attempt(work: Callable[[], Any]) -> object:
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


USES: list[Callable[[Any], Any]] = [
    lambda c: [(f.name, f.type) for f in dataclasses.fields(c["Named"])],
    lambda c: c["Named"].__annotations__,
    lambda c: repr(c["Point"](1)),
    lambda c: repr(c["Named"](1, 3, name="n")),
    lambda c: c["Point"](1, tags=["a"]).tags,
    lambda c: c["Point"](1).tags is c["Point"](1).tags,
    lambda c: c["Point"](),
    lambda c: c["Point"](1, 2, [], 4),
    lambda c: c["Named"](1, 2, [], "n"),
    lambda c: c["Point"](1, z=3),
    lambda c: (c["Point"](1, 2) == c["Point"](1, 3), c["Point"](1) == c["Point"](2), c["Point"](1) == 1),
    lambda c: c["Named"](1, name="n") == c["Named"](1, name="n"),
    lambda c: c["Named"](1, name="n") == c["Point"](1),
    lambda c: hash(c["Point"](1)),
    lambda c: c["Named"](1, name="n", tags=()) in {c["Named"](1, name="n", tags=())},
    lambda c: hash(c["Count"]()),
    lambda c: (c["Count"]() == c["Count"](0), c["Itself"](1) == c["Itself"](1), repr(c["Itself"](1))),
    lambda c: setattr(c["Point"](1), "x", 2),
    lambda c: delattr(c["Point"](1), "x"),
    lambda c: setattr(c["Count"](), "other", 2),
    lambda c: repr(dataclasses.replace(c["Named"](1, name="n"), name="m", x=7)),
    lambda c: dataclasses.replace(c["Point"](1), total=7),
    lambda c: dataclasses.asdict(c["Named"](1, name="n")),
    lambda c: (c["Point"].__match_args__, c["Point"].__slots__, c["Named"].__match_args__),
    lambda c: repr(copy.copy(c["Count"](3))),
    lambda c: repr(copy.deepcopy(c["Named"](1, name="n"))),
    lambda c: hasattr(c["Point"](1), "__dict__"),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("classes", [CLASSES, COMPILED], ids=["with few values", "compiled"])
def test_dataclass_behaves_like_the_standard_one(classes: dict[str, Any], use: Callable[[Any], Any]) -> None:
    assert attempt(lambda: use(classes)) == attempt(lambda: use(STANDARD))


def test_init_of_a_class_with_many_values_is_compiled() -> None:
    few, many = (classes["Count"].__init__.__code__.co_varnames for classes in (CLASSES, COMPILED))
    assert (few[:3], many) == (("self", "arguments", "keywords"), ("self", "of"))


def test_plan_for_another_event_keeps_all_other_fields() -> None:
    names = [one.name for one in dataclasses.fields(Plan)]
    values: dict[str, Any] = {name: f"the {name}" for name in names}
    others: dict[str, Any] = {"event": "another event", "policy": "its policy"}
    assert Plan(**values).for_event(**others) == Plan(**{**values, **others})
