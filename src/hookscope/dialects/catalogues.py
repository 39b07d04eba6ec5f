"""The event catalogues that stand beside the dialects."""

from functools import cache
from importlib.resources import files

from hookscope.core.catalogue import read_catalogue
from hookscope.core.event_types import Catalogue


@cache
def catalogue(*names: str) -> Catalogue:
    """The catalogues in `<name>.yaml` of this folder, as one."""
    folder = files("hookscope.dialects")
    parts = (read_catalogue((folder / f"{name}.yaml").read_bytes()) for name in names)
    return Catalogue(tuple(event for part in parts for event in part.events))
