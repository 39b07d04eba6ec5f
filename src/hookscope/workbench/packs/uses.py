"""What a package's sources say that it does: variables, programs, other machines, files. Nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath

from hookscope.core.hooks import LANGUAGE_OF
from hookscope.lint.reading import Uses, uses_of
from hookscope.lint.source.facts import LARGEST, HandlerFacts
from hookscope.lint.source.python import python_facts
from hookscope.lint.source.scripts import Script, read_scripts
from hookscope.packs.tree import DEPENDENCIES, Tree
from hookscope.values import dataclass

MOST = 200  # sources that are read
SHARED = "*"  # what belongs to none of the hooks alone


@dataclass(frozen=True, slots=True)
class Capabilities:
    """By the folder of a hook, or SHARED, what its sources use; and what could not be read."""

    uses: Mapping[str, Uses]
    unread: tuple[str, ...] = ()
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by source, but for types alone


def capabilities_of(tree: Tree, hooks: Sequence[str]) -> Capabilities:
    """Blocks while scripts are parsed, in a child."""
    sources = [path for path in tree.files if _is_source(path)]
    scripts, found, unread = [], {}, [f"{path}: only {MOST} files are read" for path in sources[MOST:][:1]]
    why: dict[str, list[str]] = {}
    for path in sources[:MOST]:
        content = tree.files[path].content
        if len(content) > LARGEST:
            unread.append(f"{path}: it is larger than {LARGEST:,} bytes")
            continue
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        if path.endswith(".py"):
            found[path] = python_facts(text)
        else:
            typescript = LANGUAGE_OF.get(PurePosixPath(path).suffix) == "typescript"
            scripts.append(Script(path, text, typescript))
    for path, facts in (read_scripts(scripts) if scripts else {}).items():
        if isinstance(facts, str):
            why.setdefault(facts, []).append(path)
        else:
            found[path] = facts
    unread += [f"{_few(paths)}: {reason}" for reason, paths in why.items()]
    unread += [f"{path}: {facts.error.name}" for path, facts in found.items() if facts.error is not None]
    doubtful = ((path, facts.doubt) for path, facts in found.items() if facts.error is None and facts.doubt)
    unread += [f"{path}, line {doubt.line}: perhaps a mistake in its grammar" for path, doubt in doubtful]
    owned: dict[str, list[HandlerFacts]] = {}
    for path, facts in found.items():
        owned.setdefault(_owner(path, hooks), []).append(facts)
    return Capabilities(
        {name: _joined(map(uses_of, several)) for name, several in owned.items()},
        tuple(unread),
        {path: _imports(facts) for path, facts in found.items()},
    )


def _imports(facts: HandlerFacts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(met.name for met in facts.imports if met.kind != "type"))


def _few(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    return paths[0] + (f" and {more} more file{'s' * (more > 1)}" if more else "")


def _is_source(path: str) -> bool:
    parts = PurePosixPath(path)
    return parts.suffix in LANGUAGE_OF and not path.endswith(".d.ts") and DEPENDENCIES not in parts.parts


def _owner(path: str, hooks: Sequence[str]) -> str:
    inside = [hook for hook in hooks if not hook or path.startswith(f"{hook}/")]
    return max(inside, key=len, default=SHARED)


def _joined(several: Iterable[Uses]) -> Uses:
    parts: dict[str, dict[str, None]] = {
        name: {} for name in ("env", "optional_env", "bins", "network", "writes")
    }
    for uses in several:
        for name, known in parts.items():
            known.update(dict.fromkeys(getattr(uses, name)))
    return Uses(**{name: tuple(known) for name, known in parts.items()})
