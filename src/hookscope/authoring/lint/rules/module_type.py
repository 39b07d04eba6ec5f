"""A `.js` handler and its package.json do not agree on the module format.

If the nearest package.json says `commonjs`, an ES module fails at its first `import` or `export`. If it says
`module`, a CommonJS handler fails, because `module.exports` does not exist. If no package.json has a type,
Node 22.7 and later detect the format; earlier versions assume CommonJS.

Bad:
    HOOK.md as usual
    handler.js
        export default async function handler(event) {}

Good:
    HOOK.md as usual
    handler.js
        export default async function handler(event) {}
    package.json
        {"type": "module"}
"""

from collections.abc import Iterator

from hookscope.authoring.lint.model import LintSubject, Rule, RuleMessage, error, hint
from hookscope.model.hook import Edit


def check(subject: LintSubject) -> Iterator[RuleMessage]:
    handler, facts, package = subject.handler, subject.facts, subject.package
    if handler is None or facts is None or handler.suffix != ".js":
        return
    if facts.module == "commonjs" and package is not None and package.type == "module":
        edit = Edit(package.file, ("type",), "commonjs", '"type": "commonjs"')
        others = any(name.endswith(".js") and name != handler.name for name in subject.names)
        alone = package.file.parent == handler.parent and not others  # else the edit would affect other files
        text = f"{handler.name} is CommonJS, but its package.json has type `module`: it fails to load."
        next_step = (
            'Use `export default` and `import`, or put `"type": "commonjs"` into a package.json beside it.'
        )
        yield error(subject.handler_position(), text, next_step, (edit,) if alone else None)
    if facts.module != "esm":
        return
    if package is not None and package.type == "module":
        return
    own = handler.parent / "package.json"
    fix = None
    if package is None or package.file != own or not package.type:
        fix = (Edit(own, ("type",), "module", '"type": "module"'),)
    next_step = 'Put a package.json with `{"type": "module"}` beside it.'
    if package is not None and package.type == "commonjs":
        text = f"{handler.name} is an ES module, but its package.json has type `commonjs`: it fails to load."
        yield error(subject.handler_position(), text, next_step, fix)
        return
    which = "the nearest package.json does not say" if package else "no package.json says"
    text = f"{handler.name} is an ES module, but {which} so: only Node 22.7 and later detect it."
    yield hint(subject.handler_position(), text, next_step, fix)


RULE = Rule("module-type", __doc__, check, reads_source=True)
