"""Thousands of hooks are a million objects. Python walks all of them in search of cycles again and again, and
meanwhile no key is answered."""

from __future__ import annotations

import gc
from collections.abc import Sized

MANY = 1_000  # hooks; with fewer the search is not felt
RARELY = (10_000, 10, 50)  # objects more than before; then how often of the younger before the older


def put_off() -> None:
    """Search for no cycles until the first hooks are there: a start makes many objects, and all are kept."""
    gc.disable()


def go_on() -> None:
    """Search from now on, but not among what the start has made. Nothing where nothing was put off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def set_aside(found: Sized) -> None:
    """Leave what there is now out of later searches where it is much.

    What a look has found holds no cycles: it goes as the next look takes its place, set aside or not.
    """
    if len(found) >= MANY:
        gc.collect(1)  # the young ones, which may hold some
        gc.freeze()
        gc.set_threshold(*RARELY)
