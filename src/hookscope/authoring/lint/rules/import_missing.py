"""A handler imports a file or package that does not exist.

The host cannot load such a handler. A host that only removes types does not correct import names: `./lib.js`
does not find `lib.ts`, and `./lib` is not a file. A project with such a module cannot be built.

Host: openclaw@2026.9

Bad:
    HOOK.md as usual
    handler.ts
        import { tidy } from "./lib.js";
        export default async (event) => tidy(event);
    lib.ts
        export function tidy(event: object) { console.log(event); }

Good:
    HOOK.md as usual
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

OF_A_HOST = re.compile(r"(?:\.\./)+src/")  # how guides import from the host's own source tree
PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w.-]+")


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    if subject.kind == "plugin":
        return  # plugins are bundled
    if subject.kind == "stream":
        yield from _of_project(subject)
        return
    for missing in subject.missing_imports:
        if missing.occurrence.kind:
            continue  # types are checked by import-types
        message = _message(missing, subject)
        if message is not None and not is_misnamed(missing.occurrence.name, subject.host.packages):
            yield message


def _message(missing: MissingImport, subject: LintSubject) -> RuleMessage | None:
    name, host = one_line(missing.occurrence.name, 80), subject.host
    place = subject.handler_position(missing.occurrence)
    if missing.replacement:
        text = f"`{name}` is not a file, and {host.product} does not correct it: the handler does not load."
        return error(
            place, text, f"Write `{one_line(missing.replacement, 80)}`, or compile both files to JavaScript."
        )
    if name.startswith((".", "/")):
        if OF_A_HOST.match(name) and not host.loads_like_node:
            return None
        text = f"`{name}`, which the handler imports, does not exist."
        next_step = "Create that file, or correct its path."
        return error(place, text, next_step) if host.loads_like_node else warning(place, text, next_step)
    if not _is_of_host(missing.occurrence.name, subject):
        package = PACKAGE.match(missing.occurrence.name)
        text = f"The package of `{name}` is not installed in or above the hook's folder."
        return warning(place, text, f"Run `npm install {package[0] if package else name}` there.")
    if not host.loads_like_node:
        return None
    text = f"`{name}` is not installed near the handler, and {host.product} does not provide it to hooks."
    return warning(place, text, "Import only types (`import type`), and remove the other imports.")


def _of_project(subject: LintSubject) -> Iterator[RuleMessage]:
    """Yield the missing imports of a module. Each one stops the build, and so every hook of the project."""
    product = subject.host.product
    for missing in subject.missing_imports:
        name, place = one_line(missing.occurrence.name, 80), subject.handler_position(missing.occurrence)
        if name.startswith((".", "/")):
            text = f"`{name}`, which the module imports, does not exist: {product} cannot build the project."
            yield error(place, text, "Create that file, or correct its path.")
        elif not _is_of_host(missing.occurrence.name, subject):
            text = f"The package of `{name}` is not installed in the project: {product} cannot build it."
            yield warning(place, text, "Add it to the project's package.json, and install the dependencies.")


def _is_of_host(name: str, subject: LintSubject) -> bool:
    return any(name == package or name.startswith(f"{package}/") for package in subject.host.packages)


RULE = Rule("import-missing", __doc__, check, reads_source=True, depends_on_host=True)
