"""Dialects: a file for each host version, or for several versions that differ little; their events are YAML.

Only this folder names hosts. A module whose name ends in a number has dialects of shipped programs, and is
found by that number; the guides are named here.
"""

import re
from dataclasses import replace
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

from hookscope.hosts.dialects.eliza import ELIZA
from hookscope.hosts.dialects.eve import EVE
from hookscope.hosts.dialects.milady import MILADY
from hookscope.hosts.dialects.openclaw import OPENCLAW
from hookscope.model.host import Dialect
from hookscope.model.text import nearest_word


def _shipped_dialects() -> dict[str, Dialect]:
    """Return the dialects of shipped programs by name, the newest of a host first."""
    names = [found.name for found in iter_modules(__path__) if re.search(r"_\d+$", found.name)]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Dialect)]
    return {one.name: one for one in sorted(found, key=lambda one: one.order, reverse=True) if one.version}


_SHIPPED = _shipped_dialects()


def _newest(product: str) -> Dialect | None:
    return next((one for one in _SHIPPED.values() if one.product == product), None)


# In the order in which hosts are detected if the user names none.
GUIDES: tuple[Dialect, ...] = tuple(
    replace(guide, newest=partial(_newest, guide.product)) for guide in (OPENCLAW, MILADY, ELIZA, EVE)
)
# Programs as shipped; used only if the user names them.
SHIPPED: tuple[Dialect, ...] = tuple(
    one for guide in GUIDES for one in _SHIPPED.values() if one.product == guide.product
)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (*GUIDES, *SHIPPED)}
DEFAULT = GUIDES[0]


class UnknownDialect(LookupError):
    """No dialect has this name. The text names the closest known one."""


def dialect_named(name: str) -> Dialect:
    """Return the dialect of that name. Raises UnknownDialect."""
    if name in DIALECTS:
        return DIALECTS[name]
    closest = nearest_word(name, DIALECTS)
    hint = f"did you mean {closest}?" if closest else f"known dialects: {', '.join(DIALECTS)}."
    raise UnknownDialect(f"There is no dialect {name!r}; {hint}")
