"""Events that a guide lacks and its program sends: no hook is called silent for them."""

from __future__ import annotations

import pytest

from hookscope.hosts.dialects import DIALECTS, GUIDES, SHIPPED
from hookscope.model.host import Dialect


def heard(dialect: Dialect) -> set[str]:
    """The events that its HOOK.md folders hear, or the modules of its stream."""
    return {event.key for event in dialect.catalogue().events if event.kind != "plugin" and event.emitted}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_guide_lists_the_later_events_of_its_program(guide: Dialect) -> None:
    programs = [one for one in SHIPPED if one.product == guide.product]
    beyond = set().union(*(heard(one) for one in programs)) - heard(guide)
    assert set(guide.later_events) == beyond
    for key, there in guide.later_events.items():
        assert key in heard(DIALECTS[there])


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_guide_lists_the_later_plugin_hooks_of_its_program(guide: Dialect) -> None:
    named = [one for one in SHIPPED if one.name in guide.later_plugin_events.values()]
    beyond = set().union(*(of_plugins(one) for one in named)) - of_plugins(guide)
    assert set(guide.later_plugin_events) == beyond
    for key, there in guide.later_plugin_events.items():
        assert key in of_plugins(DIALECTS[there])


def of_plugins(dialect: Dialect) -> set[str]:
    return {event.key for event in dialect.catalogue().events if event.kind == "plugin" and event.emitted}
