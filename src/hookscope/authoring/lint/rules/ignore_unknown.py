"""A hook ignores a lint rule that does not exist.

A misspelt rule name has no effect: the findings of the intended rule are still reported.

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}, hookscope: {lint: {ignore: [env-undeclard]}}}
        ---
    handler.py
        def handler(event): ...

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}, hookscope: {lint: {ignore: [env-undeclared]}}}
        ---
    handler.py
        def handler(event): ...
"""

from collections.abc import Iterator

from hookscope.authoring.lint.header import IGNORE_PATH, ignored_in_header, ignored_in_source
from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, hint
from hookscope.model.hook import FilePosition
from hookscope.model.text import closest_match, did_you_mean, one_line


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    for id_ in ignored_in_header(subject.header):
        yield from _unknown_rule(id_, subject.header_position(*IGNORE_PATH))
    if subject.handler is not None:
        for line, ids in ignored_in_source(subject.text).items():
            for id_ in sorted(ids):
                yield from _unknown_rule(id_, FilePosition(subject.handler, line))


def _unknown_rule(id_: str, place: FilePosition) -> Iterator[RuleMessage]:
    from hookscope.authoring.lint.rules import RULES  # RULES contains this rule: a cycle

    if id_ not in RULES:
        next_step = did_you_mean(closest_match(id_, RULES), "`hookscope lint --explain all` lists them.")
        yield hint(place, f"There is no lint rule `{one_line(id_, 60)}` to ignore.", next_step)


RULE = Rule("ignore-unknown", __doc__, check)
