"""Programs that a workspace names in its own configuration: used once the workspace is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from hookscope.core.dialect import Host
from hookscope.core.hooks import Language
from hookscope.core.surroundings import lies_in, real_surroundings
from hookscope.core.text import as_typed, has_controls
from hookscope.core.trust import allows
from hookscope.values import dataclass
from hookscope.workbench.project import CONFIG, project_config
from hookscope.workbench.refusal import Refusal

Key = Literal["python", "node"]
KEYS: tuple[Key, ...] = ("python", "node")
LANGUAGES: Mapping[Key, tuple[Language, ...]] = {
    "python": ("python",),
    "node": ("typescript", "javascript"),
}


@dataclass(frozen=True, slots=True)
class NamedProgram:
    """An interpreter that `.hookscope/config.yaml` of a workspace names."""

    key: Key
    path: str
    workspace: Path

    def allowed_by(self, host: Host) -> bool:
        """Return whether the workspace that names it is trusted, links resolved."""
        return allows(Path(os.path.realpath(self.workspace)), host)

    @property
    def in_words(self) -> str:
        """The program, and where it is named."""
        return f"{self.path} (`{self.key}:` in {CONFIG})"

    @property
    def not_trusted(self) -> str:
        """Why it is not used, without the next step."""
        return f"{self.path}, named under `{self.key}:` in {CONFIG}, is not trusted yet"

    @property
    def way_out(self) -> str:
        """The command that allows it, as the end of a sentence."""
        folder = real_surroundings().short(self.workspace)
        return f"`hookscope trust {as_typed(folder)}` allows it"


def named_program(project: Mapping[str, object], key: Key, workspace: Path) -> NamedProgram | None:
    """Return the program that a project's configuration names under `key`, or None. Raises Refusal.

    `~` is the user's real home, whatever a what-if assumes: it chooses no program.
    """
    path = project.get(key)
    if path is None:
        return None
    if not isinstance(path, str) or not path.strip() or "\n" in path or has_controls(path):
        raise Refusal(f"`{key}:` in {CONFIG} wants the path of a program, and has {path!r}.", code=2)
    return NamedProgram(key, str(real_surroundings().absolute(path, workspace)), workspace)


def programs_named_in(folders: Iterable[Path]) -> tuple[NamedProgram, ...]:
    """Return the programs that the configurations of these folders name, for the question of trust.

    A configuration that cannot be read names none: commands refuse it by themselves.
    """
    found: dict[NamedProgram, None] = {}
    for folder in folders:
        try:
            project = project_config(folder)
            named = (named_program(project, key, folder) for key in KEYS)
            found |= dict.fromkeys(one for one in named if one is not None)
        except Refusal:
            continue
    return tuple(found)


def programs_allowed_by(folder: Path, known: Iterable[NamedProgram | None] = ()) -> tuple[NamedProgram, ...]:
    """Return the programs that trusting `folder` would allow: its own, and those `known` below it."""
    real = Path(os.path.realpath(folder))
    below = (one for one in known if one and lies_in(Path(os.path.realpath(one.workspace)), real))
    found = {(one.key, one.path): one for one in (*programs_named_in([folder]), *below)}
    return tuple(found.values())


def waiting_programs(known: Iterable[NamedProgram | None], host: Host) -> Mapping[Language, NamedProgram]:
    """Return the programs that are not allowed yet, by the languages that wait for them."""
    waiting = [one for one in known if one is not None and not one.allowed_by(host)]
    return {language: one for one in waiting for language in LANGUAGES[one.key]}
