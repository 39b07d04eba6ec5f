"""The event catalogues, and the sequences of events, that stand beside the dialects."""

from functools import cache
from importlib.resources import files

from hookscope.core.catalogue import read_catalogue
from hookscope.core.event_types import Catalogue


@cache
def catalogue(*names: str) -> Catalogue:
    """The catalogues in `<name>.yaml` of this folder, as one."""
    parts = (read_catalogue(source(name)) for name in names)
    return Catalogue(tuple(event for part in parts for event in part.events))


def source(name: str) -> bytes:
    """`<name>.yaml` of this folder."""
    return (files("hookscope.dialects") / f"{name}.yaml").read_bytes()
