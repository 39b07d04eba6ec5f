"""Why something among the hooks is none, as far as it was surely meant as one."""

from pathlib import Path

from hookscope.core.hooks import Folder, Place
from hookscope.core.surroundings import Files, FolderItem
from hookscope.formats.frontmatter import cut_header
from hookscope.formats.places import FormatError
from hookscope.systems.folders.shapes import MANIFEST, FolderShape, Search

MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
DEEPEST = 2  # folders below one without a HOOK.md in which hooks are looked for that lie too deep
MOST_BELOW = 40  # of those folders
UTF_16 = f"{MANIFEST} is UTF-16 text; save it as UTF-8"
BUILT = frozenset({"dist", "build", "out", "lib", "src"})  # where authors of packages put what is run


def explain_loose(children: list[FolderItem], folder: Folder, search: Search) -> None:
    """A hook's files that were put among the folders of hooks: said once."""
    meant = (MANIFEST, *(name for name in search.shape.candidates if name.startswith("handler.")))
    loose = {child.name: child for child in children if child.name in meant and not child.folder}
    if name := next((name for name in meant if name in loose), None):
        at = folder.path.name
        reason = f"{name} lies in {at} itself; a hook is a folder below it, such as {at}/NAME"
        search.reject(folder, loose[name].path, reason, name=name)


def explain_missing_manifest(path: Path, names: list[str], folder: Folder, search: Search) -> None:
    """Only for folders that were surely meant as hooks; others are none of our business."""
    misspelt = next((name for name in names if name.lower() == MANIFEST.lower()), None)
    if misspelt is not None:
        reason = f"the file must be called {MANIFEST}; this one is {misspelt}"
        search.reject(folder, path, reason, name=path.name)
    elif handler := next((name for name in search.shape.candidates if name in names), None):
        reason = f"{handler} without a {MANIFEST} is no hook"
        search.reject(folder, path, reason, name=path.name)
    elif found := _too_deep(path, search):
        at, first = folder.path.name, found[0].relative_to(path)
        lie = f"and {len(found) - 1} more lie" if len(found) > 1 else "lies"
        reason = (
            f"{first / MANIFEST} {lie} too deep: a hook is a folder directly in {at}, "
            f"such as {at}/{first.name}"
        )
        search.reject(folder, path, reason, name=path.name, place=Place(found[0] / MANIFEST))


def _too_deep(path: Path, search: Search) -> list[Path]:
    """The folders with a HOOK.md below one that has none, the outermost first; links are not followed."""
    found, waiting = [], [path]
    for _ in range(MOST_BELOW):
        if not waiting:
            break
        here = waiting.pop(0)
        try:
            children = search.files.children(here)
        except OSError:
            continue
        if here != path and any(child.name == MANIFEST for child in children):
            found.append(here)
        elif len(here.relative_to(path).parts) < DEEPEST:
            waiting += [child.path for child in children if _may_hold_hooks(child)]
    return found


def _may_hold_hooks(child: FolderItem) -> bool:
    return (
        child.folder and not child.linked and not child.name.startswith(".") and child.name != "node_modules"
    )


def why_no_header(source: bytes) -> str:
    """Why a reader found no header that counts, nearest reason first."""
    if source.startswith(MARKS_OF_UTF_16):
        return UTF_16
    if not source.strip(b"\xef\xbb\xbf \t\r\n"):
        return f"{MANIFEST} is empty"
    try:
        header = cut_header(source)
    except FormatError:
        header = None
    if header is not None and source.startswith(b"\xef\xbb\xbf"):
        return f"{MANIFEST} begins with a byte order mark: its first line is not --- to this host"
    if header is not None:
        return f"{MANIFEST} has a header without `name`, which this host passes over"
    return f"{MANIFEST} has no frontmatter: its first line must be ---"


def what_else(path: Path, files: Files) -> str:
    """What stands in the place of a file."""
    facts = files.facts(path)
    return "a link that leads nowhere" if facts is None else "a folder" if facts.folder else "no regular file"


def no_handler(names: frozenset[str], refused: str, shape: FolderShape) -> str:
    """Why a folder with a manifest has no handler: what was refused, or what is nearly one."""
    looked_for = ", ".join(shape.candidates)
    if refused:
        return f"{MANIFEST} but no handler: {refused}; looked for {looked_for}"
    strangers = sorted(name for name in names if name.lower().startswith(("handler.", "index.")))
    built = sorted(names & BUILT)
    beside = f"; {strangers[0]} is not one of them" if strangers else ""
    if built and not strangers:
        beside = f"; it must lie beside {MANIFEST}, and not in {built[0]}/"
    return f"{MANIFEST} but no handler: looked for {looked_for}{beside}"
