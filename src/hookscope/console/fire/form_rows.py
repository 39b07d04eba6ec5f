"""The rows of a form: which there are, and how each is drawn. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from hookscope.console.fire.fields import Field, Form, on_one_line
from hookscope.console.fire.offers import Offer
from hookscope.console.marks import MUTED, fitted, word
from hookscope.console.theme import FAINT
from hookscope.values import dataclass

SIGNS = {
    "text": "Aa",
    "number": "12",
    "true/false": "tf",
    "null": "--",
    "list": "[]",
    "object": "{}",
    "value": "✗ ",
}
LATER = "a later field of this name counts"
ADD = "+ another"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the form: a field that is there, one that could be, or (neither) the place for another."""

    field: Field | None = None
    offer: Offer | None = None
    overridden: bool = False

    @property
    def name(self) -> str:
        return self.field.name if self.field else self.offer.name if self.offer else ""

    @property
    def shown(self) -> str:
        """What its input holds."""
        return self.field.shown if self.field else ""

    @property
    def help(self) -> str:
        return self.offer.help if self.offer else ""


def rows_of(form: Form, known: Sequence[Offer]) -> tuple[Row, ...]:
    """The fields in their order, then those that could be added, then the place for any other."""
    offered = {offer.name: offer for offer in known}
    last = {field.name: index for index, field in enumerate(form.fields)}
    there = (
        Row(field, offered.get(field.name), last[field.name] > index)
        for index, field in enumerate(form.fields)
    )
    return (*there, *(Row(None, offer) for offer in known if offer.name not in last), Row())


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of a form's columns; between name and value stand the kind's sign and spaces."""

    name: int
    value: int
    help: int

    @property
    def before_value(self) -> int:
        return self.name + 4  # a space, the sign, a space


def columns(width: int, names: int) -> Columns:
    """How a row of `width` cells is divided, where the longest name takes `names`."""
    name = max(min(names, 24, width // 3), 4)
    left = max(width - name - 4, 1)
    help_ = left * 45 // 100 if left >= 30 else 0
    return Columns(name, max(left - help_ - (2 if help_ else 0), 1), help_)


def row_line(row: Row, at: Columns, noted: str = "") -> Content:
    """A row as it is drawn, but for the input at the cursor; what is `noted` stands in place of its help."""
    if row.field is None:
        name, example = (row.name, on_one_line(row.offer.example)) if row.offer else (ADD, "")
        cells = (fitted(word(name), at.name), "    ", fitted(word(example), at.value), "  ")
        told = (
            Content.styled(word(noted), "$text-warning") if noted else Content.styled(word(row.help), FAINT)
        )
        return Content.assemble(*cells).stylize(FAINT) + told
    field = row.field
    wrong = "$text-error" if field.problem else ""
    note, style = row.help, MUTED
    if field.problem:
        note, style = field.problem, wrong
    elif row.overridden or noted:
        note, style = LATER if row.overridden else noted, "$text-warning"
    sign = SIGNS["value" if field.problem else field.kind]
    value = fitted(word(field.shown, 2 * at.value), at.value, wrong)
    told = Content.styled(f"  {word(note)}", style) if at.help or field.problem else Content()
    name_cell = fitted(word(field.name), at.name)
    return Content.assemble(name_cell, " ", (sign, wrong or FAINT), " ", value, told)
