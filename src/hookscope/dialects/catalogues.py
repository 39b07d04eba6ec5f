"""The event catalogues, and the sequences of events, that stand beside the dialects."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from hookscope.core.catalogue import read_catalogue
from hookscope.core.event_types import Catalogue, Mistaken

HERE = Path(__file__).parent


@cache
def catalogue(*names: str, others: tuple[tuple[str, str], ...] = (), hyphens: bool = True) -> Catalogue:
    """The catalogues in `<name>.yaml` of this folder, as one; each is read when it is asked for something.

    `others`: dialects of other versions, each with the name of its catalogue. `hyphens`: may plugins write
    them in the names of their hooks.
    """
    elsewhere = {dialect: partial(_read, name) for dialect, name in others}
    return Catalogue.joined(
        *(partial(_read, name) for name in names),
        others=elsewhere,
        mistaken=mistaken_names,
        hyphens=hyphens,
    )


@cache
def mistaken_names() -> Mapping[str, Mistaken]:
    """Names that authors write for events and that are none, by name."""
    from hookscope.core.mistaken import read_mistaken  # here: most hooks listen to what is sent

    return read_mistaken(source("mistaken_names"))


@cache
def _read(name: str) -> Catalogue:
    return read_catalogue(source(name))


def source(name: str) -> bytes:
    """`<name>.yaml` of this folder."""
    return (HERE / f"{name}.yaml").read_bytes()
