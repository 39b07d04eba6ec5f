"""A pane that stands in the tree before its parts do: most sittings begin elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

from textual.app import ComposeResult
from textual.widget import Widget

from hookscope.console.fire import asked
from hookscope.console.leaving import Leaves

Given = ParamSpec("Given")
Pane = TypeVar("Pane", bound="LatePane")


class LatePane(Leaves):
    """Mounts its parts when they are first needed."""

    def __init__(
        self,
        *,
        at_once: bool,
        id: str | None = None,  # noqa: A002  (Textual's name)
        classes: str | None = None,
    ) -> None:
        """`at_once`: with its parts from the beginning."""
        super().__init__(id=id, classes=classes)
        self._at_once = self._furnishing = at_once
        self._there = asyncio.Event()  # the parts are
        self._waiting: list[Callable[[], None]] = []  # for the parts

    def parts(self) -> Iterator[Widget]:
        """What it consists of."""
        raise NotImplementedError

    def show_all(self) -> None:
        """The parts are there now: show in them what is known so far."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        if self._at_once:
            yield from self.parts()

    def on_mount(self) -> None:
        if self._at_once:
            self._complete()

    @property
    def furnished(self) -> bool:
        """Are the parts there."""
        return self._there.is_set()

    def furnish(self) -> None:
        """Mount the parts, if they are not there yet."""
        if not self._furnishing:
            self._furnishing = True
            self.call_later(self._mount_parts)

    async def with_its_parts(self) -> None:
        """Furnish it, and wait for that."""
        self.furnish()
        await self._there.wait()

    def once_furnished(self, call: Callable[[], None]) -> None:
        """Do this when the parts are there: now, or as soon as somebody needs them."""
        if self.furnished:
            call()
        else:
            self._waiting.append(call)

    async def _mount_parts(self) -> None:
        await self.mount(*self.parts())
        if self.leaving:
            return  # as the console ends: none of them was mounted
        self._complete()
        self.post_message(asked.Furnished())

    def _complete(self) -> None:
        self._there.set()
        self.show_all()
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
        self.refresh_bindings()


def by_its_parts(
    method: Callable[Concatenate[Pane, Given], None],
) -> Callable[Concatenate[Pane, Given], None]:
    """A method that the parts carry out: without them it furnishes the pane, and is done then."""

    @wraps(method)
    def done(pane: Pane, /, *given: Given.args, **named: Given.kwargs) -> None:
        pane.once_furnished(partial(method, pane, *given, **named))
        pane.furnish()

    return done
