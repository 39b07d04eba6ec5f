"""The rules, one file each. The docstring of a file is the rule's documentation and its test."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from hookscope.authoring.lint.model import Rule


def _rule(module: ModuleType) -> Rule:
    rule = module.RULE
    assert isinstance(rule, Rule)
    return rule


_FOUND = (_rule(import_module(f"{__name__}.{found.name}")) for found in iter_modules(__path__))
RULES: dict[str, Rule] = {rule.id: rule for rule in _FOUND}
