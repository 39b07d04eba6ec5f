"""Dialects: one file for each host version, its events as YAML beside it.

Only this folder names hosts.
"""

from hookscope.hosts.dialects.eliza import ELIZA
from hookscope.hosts.dialects.eliza_beta_2 import ELIZA_BETA_2
from hookscope.hosts.dialects.eve import EVE
from hookscope.hosts.dialects.eve_0_18 import EVE_0_18
from hookscope.hosts.dialects.eve_0_80 import EVE_0_80
from hookscope.hosts.dialects.milady import MILADY
from hookscope.hosts.dialects.milady_alpha_76 import MILADY_ALPHA_76
from hookscope.hosts.dialects.openclaw import OPENCLAW
from hookscope.hosts.dialects.openclaw_2026_3 import OPENCLAW_2026_3
from hookscope.hosts.dialects.openclaw_2026_7 import OPENCLAW_2026_6, OPENCLAW_2026_7
from hookscope.hosts.dialects.openclaw_2026_9 import OPENCLAW_2026_9
from hookscope.model.host import Dialect
from hookscope.model.text import nearest_word

# In the order in which hosts are detected if the user names none.
GUIDES: tuple[Dialect, ...] = (OPENCLAW, MILADY, ELIZA, EVE)
# Programs as shipped; used only if the user names them.
SHIPPED: tuple[Dialect, ...] = (
    OPENCLAW_2026_9,
    OPENCLAW_2026_7,
    OPENCLAW_2026_6,
    OPENCLAW_2026_3,
    MILADY_ALPHA_76,
    ELIZA_BETA_2,
    EVE_0_18,
    EVE_0_80,
)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (*GUIDES, *SHIPPED)}
DEFAULT = OPENCLAW


class UnknownDialect(LookupError):
    """No dialect has this name. The text names the closest known one."""


def dialect_named(name: str) -> Dialect:
    """Return the dialect of that name. Raises UnknownDialect."""
    if name in DIALECTS:
        return DIALECTS[name]
    closest = nearest_word(name, DIALECTS)
    hint = f"did you mean {closest}?" if closest else f"known dialects: {', '.join(DIALECTS)}."
    raise UnknownDialect(f"There is no dialect {name!r}; {hint}")
