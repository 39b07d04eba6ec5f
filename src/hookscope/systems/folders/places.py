"""The folders where hooks are looked for, as settings and choices name them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Place, Problem
from hookscope.core.trust import allows

BUNDLED, EXTRA, MANAGED, WORKSPACE, PLUGIN = "bundled", "extra", "managed", "workspace", "plugin"

# Whether an extra folder from the settings may be used: None if so, else the host's refusal.
ExtraRule = Callable[[Path, str, Host], str | None]


def hooks_folder(
    host: Host,
    source: str,
    path: Path,
    rank: int,
    declared: str = "",
    *,
    label: str | None = None,
    plugin: str = "",
    shipped: bool = True,
) -> Folder:
    """A hooks folder with what trust and path rules ask of it. It need not exist.

    `label` is the host's own word for its source; `plugin` the id of the plugin that brings it. A bundled
    folder is trusted, unless it is not `shipped`: someone other than the user has named it.
    """
    facts = host.surroundings.files.facts(path)
    real = host.surroundings.files.real(path) if facts is not None else None
    trusted = (source == BUNDLED and shipped) or (real is not None and allows(real, host))
    return Folder(source, label or source, path, rank, declared, real, trusted, plugin)


def extra_folders(
    host: Host, rank: int, allowed: ExtraRule, *, label: str | None = None, base: Path | None = None
) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """The extra folders of the embedding program (unchecked), then those of the settings.

    Relative ones count from `base`, else from the settings file's folder. Refused ones and wrong types
    are problems.
    """
    folders = [
        hooks_folder(host, EXTRA, path, rank, "given by the caller", label=label)
        for path in host.choices.extra
    ]
    problems = []
    listed, where = host.hooks_setting("load", "extraDirs")
    dotted = ".".join(str(part) for part in where)
    items = listed if isinstance(listed, list) else [listed] if listed is not None else []
    for number, item in enumerate(items):
        place = host.settings.locate((*where, number) if isinstance(listed, list) else where)
        if not isinstance(item, str) or not isinstance(listed, list):
            problems.append(Problem(f"{dotted} wants a list of texts", place or Place(host.settings.file)))
            continue
        if not item.strip():
            continue
        path = host.surroundings.absolute(item.strip(), base=base or host.settings.file.parent)
        refusal = allowed(path, item, host)
        if refusal is not None:
            problems.append(Problem(refusal, place))
            continue
        folders.append(hooks_folder(host, EXTRA, path, rank, f"{dotted}[{number}]", label=label))
    named: dict[Path, tuple[int, ...]] = {}
    for number, folder in enumerate(folders):
        named[folder.path] = (*named.get(folder.path, ()), number)
    # Named twice, a folder counts where it stands last.
    once = [
        replace(folder, named=named[folder.path])
        for number, folder in enumerate(folders)
        if named[folder.path][-1] == number
    ]
    return tuple(once), tuple(problems)


def bundled_folder(host: Host, rank: int, *, label: str | None = None) -> tuple[Folder, ...]:
    """The folder of hooks that ship with the program; none where nobody names one."""
    bundled, trusted = host.choices.bundled, host.choices.bundled_trusted
    if bundled is None and host.choices.bundled_variable:
        moved = host.env.get(host.dialect.layout.bundled_variable or "", "").strip()
        bundled = host.surroundings.absolute(moved) if moved else None
        trusted = moved.startswith("~") or Path(moved).is_absolute()  # else the current folder chooses
    own = host.choices.own_bundled
    shipped = (
        () if bundled is None else (hooks_folder(host, BUNDLED, bundled, rank, label=label, shipped=trusted),)
    )
    if own is None or own == bundled:
        return shipped
    return (*shipped, hooks_folder(host, BUNDLED, own, rank + 1, label=label))  # the host's own win over ours


def any_extra(path: Path, written: str, host: Host) -> str | None:
    """A host that takes every extra folder."""
    return None


def extra_below(state: str, refusal: str) -> ExtraRule:
    """Only folders below the state folder, compared as text. `refusal` is the host's: {written}."""

    def allowed(path: Path, written: str, host: Host) -> str | None:
        inside = path.is_relative_to(host.surroundings.absolute(state))
        return None if inside else refusal.format(written=written)

    return allowed
