"""Is an event one that its host could have sent. Pure; used before an event is fired by hand."""

from hookscope.core.event_types import Catalogue
from hookscope.core.runs import Event


def problems_of(event: Event, catalogue: Catalogue) -> tuple[str, ...]:
    """One sentence for an unknown type, and one for each required field of the data that is not there."""
    known = catalogue.by_key.get(event.type)
    if known is None or known.kind != "stream":
        near = catalogue.nearest(event.type)
        return (f"{event.type} is no event of this stream" + (f"; did you mean {near}?" if near else ""),)
    return tuple(
        f"{event.type} has no `{name}` in its data"
        + (f": {known.fields[name].text}" if name in known.fields else "")
        for name in known.required
        if name not in event.context
    )
