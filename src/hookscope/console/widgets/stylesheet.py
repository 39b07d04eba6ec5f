"""A style sheet that applies only the rules that changed to each widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, cast
from weakref import WeakKeyDictionary

from textual.css.model import RuleSet, SelectorType
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

RuleValues: TypeAlias = Mapping[str, object]
StyleCache: TypeAlias = dict[tuple[Any, ...], RulesMap]  # Textual's cache for nodes that are styled together


class SortedRules:
    """The rule sets of a style sheet, indexed by the names they apply to."""

    def __init__(self, rules: list[RuleSet]) -> None:
        self.rules = rules
        selectors = [
            selector
            for rule in rules
            for selector_group in rule.selector_set
            for selector in selector_group.selectors
        ]
        self.ids = frozenset(selector.name for selector in selectors if selector.type is SelectorType.ID)
        self._for: dict[frozenset[str], list[RuleSet]] = {}

    def for_names(self, names: frozenset[str]) -> list[RuleSet]:
        """Return the rule sets for a node with one of these names, in the order of the sheet."""
        matching = self._for.get(names)
        if matching is None:
            matching = [rule for rule in self.rules if not names.isdisjoint(rule.selector_names)]
            self._for[names] = matching
        return matching


class ConsoleStylesheet(Stylesheet):
    """Applies styles faster when a mode or the focus changes and most rules stay the same.

    Textual checks all rule sets for each node and sets some forty rules again. Some of them cause a
    paint even if unchanged, because it compares them with the node's computed values. For each
    field of a form it repeats this four times, for its cursor and other details.
    """

    # The last rules of each node, and its update counter then: if equal, they still hold.
    _given: ClassVar[WeakKeyDictionary[DOMNode, tuple[RuleValues, int]]] = WeakKeyDictionary()
    _together: StyleCache | None = None  # the cache for the node that is being styled
    _narrowed: list[RuleSet] | None = None  # the rule sets that may apply to it
    _sorted = SortedRules([])

    @property
    def rules(self) -> list[RuleSet]:
        return super().rules if self._narrowed is None else self._narrowed

    def _all_sorted(self) -> SortedRules:
        everything = super().rules
        if self._sorted.rules is not everything:
            self._sorted = SortedRules(everything)
        return self._sorted

    def apply(self, node: DOMNode, *, animate: bool = False, cache: StyleCache | None = None) -> None:
        # Textual makes a plain DOMNode for each detail that a widget draws in its own style.
        if type(node) is DOMNode and isinstance(node.parent, Widget) and self._together is not None:
            self._apply_to_detail(node, node.parent, self._together)
        else:
            self._apply(node, animate, cache)

    def _apply(self, node: DOMNode, animate: bool, together: StyleCache | None) -> None:
        before = self._together, self._narrowed
        names = frozenset(self.rules_map.keys() & node._selector_names)
        self._together, self._narrowed = together, self._all_sorted().for_names(names)
        try:
            super().apply(node, animate=animate, cache=together)
        finally:
            self._together, self._narrowed = before

    def _apply_to_detail(self, detail: DOMNode, part: Widget, together: StyleCache) -> None:
        """Reuse the styles of the same detail of a sibling, if no rule distinguishes the two.

        The key is the one that Textual uses for the widgets themselves.
        """
        named = part.id if part.id in self._all_sorted().ids else None
        state = part._pseudo_classes_cache_key
        key = (detail.classes, part.parent, named, part.classes, state, part._css_type_name)
        cached = together.get(key)
        if cached is not None:
            self.replace_rules(detail, cached)
            return
        self._apply(detail, animate=False, together=None)
        if not (detail._has_focus_within or detail._has_order_style or detail._has_odd_or_even):
            together[key] = detail.styles.base.get_rules()

    @classmethod
    def replace_rules(cls, node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
        base, now = node.styles.base, cast(RuleValues, rules)
        before, changes = cls._given.get(node, ({}, -1))
        if changes != base._updates or (animate and "transitions" in now):
            super().replace_rules(node, rules, animate)
        else:
            for name in before.keys() | now.keys():
                if before.get(name) != now.get(name):
                    setattr(base, name, now.get(name))
            node.notify_style_update()  # even without a change: its surroundings may look different
        if isinstance(node, Widget):
            cls._given[node] = now, base._updates
