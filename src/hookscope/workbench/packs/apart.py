"""Hooks that go each by itself: what their sources import of the package that stays behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath

ENDINGS = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".json")
TYPED = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}


def left_behind(
    imports: Mapping[str, Sequence[str]], left: Collection[str], hook: str
) -> Iterator[tuple[str, str]]:
    """The sources of the hook in this folder, and what they import that is `left`, as they spell it."""
    inside = f"{hook}/" if hook else ""
    for source, names in imports.items():
        if source.startswith(inside):
            lost = _of_python if source.endswith(".py") else _of_script
            yield from ((source[len(inside) :], name) for name in names if lost(source, name, left))


def _of_script(source: str, name: str, left: Collection[str]) -> bool:
    """A relative path, with or without an ending; of a folder its index; `./x.js` may be `x.ts`."""
    if not name.startswith(("./", "../")):
        return False
    path = normpath(join(dirname(source), name))
    stem, dot, end = path.rpartition(".")
    others = [f"{stem}{TYPED[dot + end]}"] if dot + end in TYPED else []
    folder = (f"{path}/index{ending}" for ending in ENDINGS)
    return any(one in left for one in (path, *others, *(path + ending for ending in ENDINGS), *folder))


def _of_python(_: str, name: str, left: Collection[str]) -> bool:
    """A module or a package at the top of the pack, where modules are looked for, too."""
    top = name.partition(".")[0]
    return bool(top) and (f"{top}.py" in left or any(path.startswith(f"{top}/") for path in left))
