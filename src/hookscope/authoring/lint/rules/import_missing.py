"""A handler imports what is not there.

Its host does not load it then. A host that removes types and does no more takes names literally: there
`./lib.js` is no `lib.ts`, and `./lib` is not a file. A project whose modules are bundled is not built.

Host: openclaw@2026.9

Bad:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import { tidy } from "./lib.js";
        export default async (event) => tidy(event);
    lib.ts
        export function tidy(event: object) { console.log(event); }

Good:
    HOOK.md
        ---
        name: tidy
        metadata: {openclaw: {events: ["command:new"]}}
        ---
    handler.ts
        import { tidy } from "./lib.ts";
        export default async (event) => tidy(event);
    lib.ts
        export function tidy(event: object) { console.log(event); }
"""

import re
from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, MissingImport, Rule, RuleMessage, error, warning
from hookscope.authoring.lint.rule_helpers import is_misnamed
from hookscope.model.text import one_line

OF_A_HOST = re.compile(r"(?:\.\./)+src/")  # the guides' way to what their host has in its own tree
PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w.-]+")


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.kind == "plugin":
        return  # plugins are bundled
    if subject.kind == "stream":
        yield from _of_project(subject)
        return
    for missing in subject.missing_imports:
        if missing.occurrence.kind:
            continue  # of types: of those there is a rule of its own
        message = _said(missing, subject)
        if message is not None and not is_misnamed(missing.occurrence.name, subject.host.packages):
            yield message


def _said(missing: MissingImport, subject: LintSubject) -> RuleMessage | None:
    name, host = one_line(missing.occurrence.name, 80), subject.host
    place = subject.handler_position(missing.occurrence)
    if missing.replacement:
        text = f"`{name}` is not a file, and {host.product} takes it literally: the handler does not load."
        return error(
            place, text, f"Write `{one_line(missing.replacement, 80)}`, or compile both to JavaScript."
        )
    if name.startswith((".", "/")):
        if OF_A_HOST.match(name) and not host.loads_like_node:
            return None
        text = f"`{name}`, which the handler imports, is not there."
        next_step = "Write that file, or correct its path."
        return error(place, text, next_step) if host.loads_like_node else warning(place, text, next_step)
    if not _is_of_host(missing.occurrence.name, subject):
        package = PACKAGE.match(missing.occurrence.name)
        text = f"The package of `{name}` is not installed in the hook's folder, nor above it."
        return warning(place, text, f"`npm install {package[0] if package else name}` there brings it.")
    if not host.loads_like_node:
        return None
    text = f"`{name}` is not installed where the handler lies, and {host.product} lends it to none."
    return warning(place, text, "Import only types (`import type`), and remove the other imports.")


def _of_project(subject: LintSubject) -> Iterator[RuleMessage]:
    """A project is built as a whole: what one module lacks stops every hook."""
    product = subject.host.product
    for missing in subject.missing_imports:
        name, place = one_line(missing.occurrence.name, 80), subject.handler_position(missing.occurrence)
        if name.startswith((".", "/")):
            text = f"`{name}`, which the module imports, does not exist: {product} cannot build the project."
            yield error(place, text, "Write that file, or correct its path.")
        elif not _is_of_host(missing.occurrence.name, subject):
            text = f"The package of `{name}` is not installed in the project: {product} cannot build it."
            yield warning(
                place, text, "Install the dependencies of the project's package.json, or add it there."
            )


def _is_of_host(name: str, subject: LintSubject) -> bool:
    return any(name == package or name.startswith(f"{package}/") for package in subject.host.packages)


RULE = Rule("import-missing", __doc__, check, reads_source=True, depends_on_host=True)
