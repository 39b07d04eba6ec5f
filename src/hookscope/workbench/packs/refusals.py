"""What the desk of packs refuses, as Refusals for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hookscope.changes import ChangeError
from hookscope.core.dialect import Host
from hookscope.core.installs import HostInstall
from hookscope.core.text import as_typed
from hookscope.packs.errors import PackError, reason_of
from hookscope.workbench.packs.planned import Planned
from hookscope.workbench.refusal import Refusal


def not_ours(install: HostInstall, host: Host) -> Refusal:
    """The host keeps its own record of it, and Hookscope has not the bytes that it put in place."""
    product, program, place = host.dialect.product, host.dialect.layout.program, install.place
    where = f" ({host.surroundings.short(place.file)}:{place.line})" if place else ""
    then = f"Ask {product}" + (f": `{program} hooks update {as_typed(install.id)}`" if program else "") + "."
    return Refusal(f"{install.id} was installed by {product} itself{where}, not by Hookscope.", then)


def check_accepted(planned: Planned, *, accepted: bool) -> None:
    """Raise Refusal for a plan that installs over a failed integrity check, unless that was accepted."""
    if planned.unaccepted and not accepted:
        raise Refusal(
            f"{planned.unaccepted} Nothing was written.",
            "--dry-run --diff shows it; --accept-changed installs it and keeps copies of changed files.",
        )


@contextmanager
def refusing() -> Iterator[None]:
    """What the rooms below refuse, as a Refusal."""
    try:
        yield
    except PackError as error:
        raise Refusal(error.what, error.then) from None
    except ChangeError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"It cannot be written: {reason_of(error)}.") from None
