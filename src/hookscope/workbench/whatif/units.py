"""Finding a systemd unit: its file, its drop-ins, and whose manager runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hookscope.core.surroundings import Surroundings
from hookscope.core.text import nearest
from hookscope.formats.systemd import UnitSetting, read_unit
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.whatif.source import Source
from hookscope.workbench.whatif.sources import read_small
from hookscope.workbench.whatif.unit_environment import environment_of

SERVICE = ".service"
OF_SYSTEM = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)


def of_user(env: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Where the user's own manager looks, the first that has a unit wins."""
    config = env.get("XDG_CONFIG_HOME") or str(home / ".config")
    data = env.get("XDG_DATA_HOME") or str(home / ".local/share")
    runtime = env.get("XDG_RUNTIME_DIR")
    return (
        f"{config}/systemd/user",
        "/etc/systemd/user",
        *((f"{runtime}/systemd/user",) if runtime else ()),
        "/run/systemd/user",
        f"{data}/systemd/user",
        "/usr/local/lib/systemd/user",
        "/usr/lib/systemd/user",
    )


def unit_named(name: str, here: Surroundings) -> Source:
    """The unit of that name: the user's own, else the system's. Raises Refusal that names the nearest one."""
    full = name if name.endswith(SERVICE) else f"{name}{SERVICE}"
    if "/" in full:
        then = "A path that ends in .service is given without `unit:`."
        raise Refusal(f"{name!r} is no name of a unit.", then, code=2)
    users, systems = of_user(here.env, here.home), OF_SYSTEM
    for folders, own in ((users, True), (systems, False)):
        path = _first(full, folders)
        if path is None:
            continue
        notes = () if not own or _first(full, systems) is None else (
            f"The system has a unit {full} too: {_first(full, systems)} as a path names that one.",
        )  # fmt: skip
        return _read(full, path, folders, own, notes, here)
    known = {unit.removesuffix(SERVICE) for unit in _all((*users, *systems))}
    near = nearest(full.removesuffix(SERVICE), known)
    then = f"Did you mean unit:{near}?" if near else f"Looked in {users[0]}, {systems[0]} and beside them."
    raise Refusal(f"There is no unit {full}.", then, code=2)


def unit_at(path: Path, here: Surroundings) -> Source:
    """The unit of that file; the system's where it lies in one of its folders. Raises Refusal."""
    own = str(path.parent) not in OF_SYSTEM
    folders = of_user(here.env, here.home) if own else OF_SYSTEM
    return _read(path.name, path, (str(path.parent), *folders), own, (), here)


def _read(
    full: str, path: Path, folders: Sequence[str], own: bool, notes: tuple[str, ...], here: Surroundings
) -> Source:
    if os.path.realpath(path) == os.devnull or (os.path.isfile(path) and not path.stat().st_size):
        raise Refusal(f"The unit {full} is masked: {path} is empty.", "Name another one.", code=2)
    files = [path, *drop_ins(full, folders)]
    settings: list[UnitSetting] = []
    for file in files:
        settings += [one for one in read_unit(read_small(file)) if one.section == "Service"]
    found = environment_of(full, settings, own, here)
    return Source(
        "unit",
        f"unit {full}",
        found.env,
        home=found.home,
        files=(*files, *found.files),
        notes=(*notes, *found.notes),
        of_user=own,
    )


def drop_ins(full: str, folders: Sequence[str]) -> list[Path]:
    """`NAME.service.d/*.conf`, by name; of equal names that of the first folder counts."""
    found: dict[str, Path] = {}
    for owner in _owners(full):
        for folder in folders:
            try:
                files = [path for path in Path(folder, f"{owner}.d").iterdir() if path.suffix == ".conf"]
            except OSError:
                continue
            for path in files:
                found.setdefault(path.name, path)
    return [found[name] for name in sorted(found) if os.path.realpath(found[name]) != os.devnull]


def _owners(full: str) -> Iterator[str]:
    """Whose drop-ins a unit gets: its own, its template's, of its name's beginnings, of all services."""
    yield full
    stem = full.removesuffix(SERVICE)
    if "@" in stem:
        stem = stem.partition("@")[0] + "@"
        yield f"{stem}{SERVICE}"
    parts = stem.rstrip("@").split("-")
    for length in range(len(parts) - 1, 0, -1):
        yield "-".join(parts[:length]) + f"-{SERVICE}"
    yield SERVICE.removeprefix(".")


def _first(full: str, folders: Sequence[str]) -> Path | None:
    """The unit's own file, else its template's."""
    names = [full]
    if "@" in full:
        names.append(f"{full.partition('@')[0]}@{SERVICE}")
    for name in names:
        for folder in folders:
            path = Path(folder, name)
            if os.path.exists(path):  # a link to the null device too
                return path
    return None


def _all(folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        try:
            yield from (name for name in os.listdir(folder) if name.endswith(SERVICE))
        except OSError:
            continue
