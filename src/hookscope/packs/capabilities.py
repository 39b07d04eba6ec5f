"""What a package's sources use: variables, programs, network, files, imports. Only reads their text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

from hookscope.hosts.source.facts import LARGEST, HandlerFacts, HandlerUses, handler_uses
from hookscope.hosts.source.python import python_facts
from hookscope.hosts.source.script_parsing import ScriptSource, read_scripts
from hookscope.model.hook import LANGUAGE_OF
from hookscope.packs.file_tree import DEPENDENCIES_FOLDER, FileTree
from hookscope.values import dataclass

MOST_SOURCES = 200  # sources that are read
SHARED_BY_ALL = "*"  # the key for sources that belong to no single hook


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What sources use, by the folder of a hook or `SHARED_BY_ALL`; and unreadable files."""

    uses: Mapping[str, HandlerUses]
    unread: tuple[str, ...] = ()
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by source, without types


def capabilities_of(tree: FileTree, hooks: Sequence[str]) -> Capabilities:
    """Return what the sources of `tree` use. Blocks while a child process parses scripts."""
    sources = [path for path in tree.files if _is_source(path)]
    scripts, found, unread = (
        [],
        {},
        [
            f"{path} and the files after it were not read: the limit is {MOST_SOURCES} files"
            for path in sources[MOST_SOURCES:][:1]
        ],
    )
    paths_by_reason: dict[str, list[str]] = {}
    for path in sources[:MOST_SOURCES]:
        content = tree.files[path].content
        if len(content) > LARGEST:
            unread.append(f"{path}: it is larger than {LARGEST:,} bytes")
            continue
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        if path.endswith(".py"):
            found[path] = python_facts(content)
        else:
            typescript = LANGUAGE_OF.get(PurePosixPath(path).suffix) == "typescript"
            scripts.append(ScriptSource(path, text, typescript))
    for path, facts in (read_scripts(scripts) if scripts else {}).items():
        if isinstance(facts, str):
            paths_by_reason.setdefault(facts, []).append(path)
        else:
            found[path] = facts
    unread += [f"{_shortened(paths)}: {reason}" for reason, paths in paths_by_reason.items()]
    unread += [f"{path}: {facts.error.name}" for path, facts in found.items() if facts.error is not None]
    doubtful = ((path, facts.doubt) for path, facts in found.items() if facts.error is None and facts.doubt)
    unread += [f"{path}, line {doubt.line}: possible syntax error" for path, doubt in doubtful]
    owned: dict[str, list[HandlerFacts]] = {}
    for path, facts in found.items():
        owned.setdefault(_owning_hook(path, hooks), []).append(facts)
    return Capabilities(
        {name: _joined_uses(map(handler_uses, several)) for name, several in owned.items()},
        tuple(unread),
        {
            path: tuple(dict.fromkeys(met.name for met in facts.imports if met.kind != "type"))
            for path, facts in found.items()
        },
    )


def _shortened(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    return paths[0] + (f" and {more} more file{'s' * (more > 1)}" if more else "")


def _is_source(path: str) -> bool:
    parts = PurePosixPath(path)
    return (
        parts.suffix in LANGUAGE_OF and not path.endswith(".d.ts") and DEPENDENCIES_FOLDER not in parts.parts
    )


def _owning_hook(path: str, hooks: Sequence[str]) -> str:
    inside = [hook for hook in hooks if not hook or path.startswith(f"{hook}/")]
    return max(inside, key=len, default=SHARED_BY_ALL)


def _joined_uses(several: Iterable[HandlerUses]) -> HandlerUses:
    parts: dict[str, dict[str, None]] = {
        name: {} for name in ("env", "optional_env", "bins", "network", "writes")
    }
    for uses in several:
        for name, known in parts.items():
            known.update(dict.fromkeys(getattr(uses, name)))
    return HandlerUses(**{name: tuple(known) for name, known in parts.items()})


MODULE_SUFFIXES = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".json")
TYPESCRIPT_SUFFIXES = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}


def imports_left_behind(
    imports: Mapping[str, Sequence[str]], left_behind: Collection[str], hook: str
) -> Iterator[tuple[str, str]]:
    """Yield the sources of the hook in this folder, with their imports of files in `left_behind`."""
    inside = f"{hook}/" if hook else ""
    for source, names in imports.items():
        if source.startswith(inside):
            is_lost = _is_python_left_behind if source.endswith(".py") else _is_script_left_behind
            yield from ((source[len(inside) :], name) for name in names if is_lost(source, name, left_behind))


def _is_script_left_behind(source: str, name: str, left_behind: Collection[str]) -> bool:
    """Return whether a relative import, resolved as bundlers do, leads to a file in `left_behind`."""
    if not name.startswith(("./", "../")):
        return False
    path = normpath(join(dirname(source), name))
    stem, dot, end = path.rpartition(".")
    others = [f"{stem}{TYPESCRIPT_SUFFIXES[dot + end]}"] if dot + end in TYPESCRIPT_SUFFIXES else []
    folder = (f"{path}/index{ending}" for ending in MODULE_SUFFIXES)
    return any(
        one in left_behind for one in (path, *others, *(path + ending for ending in MODULE_SUFFIXES), *folder)
    )


def _is_python_left_behind(_: str, name: str, left_behind: Collection[str]) -> bool:
    """Return whether an import names a module or a package at the top of the pack in `left_behind`."""
    top = name.partition(".")[0]
    return bool(top) and (
        f"{top}.py" in left_behind or any(path.startswith(f"{top}/") for path in left_behind)
    )
