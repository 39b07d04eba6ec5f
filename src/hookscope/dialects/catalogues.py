"""The event catalogues that stand beside the dialects."""

from functools import cache
from importlib.resources import files

from hookscope.core.catalogue import read_catalogue
from hookscope.core.dialect import Catalogue


@cache
def catalogue(name: str) -> Catalogue:
    """The catalogue in `<name>.yaml` of this folder."""
    return read_catalogue((files("hookscope.dialects") / f"{name}.yaml").read_bytes())
