"""The fields of the bar, and the options that they stand for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.surroundings import real_surroundings
from hookscope.values import dataclass
from hookscope.workbench import Options, Refusal
from hookscope.workbench.options import PLATFORMS
from hookscope.workbench.whatif.assuming import CLEAN, supposed

if TYPE_CHECKING:
    from hookscope.workbench import View


@dataclass(frozen=True, slots=True)
class Fields:
    """What is typed; an empty text means: as it really is."""

    platform: str = ""
    path: str = ""
    environment: str = ""
    variables: str = ""
    settings: str = ""
    workspace: str = ""
    agent: str = ""
    host: str = ""


NAMES = tuple(field.name for field in fields(Fields))
TITLES: Mapping[str, str] = {"path": "PATH", **{name: name.capitalize() for name in NAMES if name != "path"}}


def fields_of(options: Options) -> Fields:
    """What the bar shows of these options: all that is assumed."""
    return Fields(
        platform=options.os or "",
        path=options.path or "",
        environment=options.env_from or (CLEAN if options.clean_env else ""),
        variables=shlex.join(f"{name}={text}" for name, text in options.env.items()),
        **{name: str(value or "") for name, value in supposed(options).items()},
    )


def options_of(typed: Fields, real: Options) -> Options:
    """The options with what is typed; `real` without any what-if. Raises Refusal for what cannot be meant."""
    if typed.platform and typed.platform not in PLATFORMS:
        raise Refusal(f"There is no platform {typed.platform!r}.", f"They are {', '.join(PLATFORMS)}.")
    supposed = {name for name in ("settings", "workspace", "agent", "host") if getattr(typed, name)}
    workspace = Path(typed.workspace) if typed.workspace else real.workspace
    if typed.agent and not typed.workspace:
        workspace = None  # it is the agent's
    clean = typed.environment == CLEAN
    return replace(
        real,
        os=typed.platform or None,
        path=typed.path or None,
        env_from=None if clean else typed.environment or None,
        clean_env=clean,
        env=_variables(typed.variables),
        config=Path(typed.settings) if typed.settings else real.config,
        workspace=workspace,
        agent=typed.agent or real.agent,
        dialect=typed.host or real.dialect,
        supposed=frozenset(supposed),
    )


def _variables(text: str) -> dict[str, str]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise Refusal(
            "A quote in the variables is never closed.", "They are NAME=value, with blanks between."
        ) from None
    found = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or "\0" in word:
            raise Refusal(f"{word!r} is not NAME=value.", "Blanks stand between variables.")
        found[name] = value
    return found


def reality(view: View, options: Options) -> Fields:
    """What stands in an empty field, muted: how it really is, as far as this view tells."""
    host = view.host
    short, kept = host.surroundings.short, options.supposed
    folders = len(os.environ.get("PATH", "").split(os.pathsep))
    return Fields(
        platform=real_surroundings().platform,
        path=f"{folders} folders   DIRS, or +DIRS before them",
        environment="this shell's   clean, FILE, pid:N, unit:NAME, launchd:LABEL …",
        variables="NAME=value …",
        settings="FILE" if "settings" in kept else short(host.settings.file),
        workspace="DIR" if kept & {"workspace", "agent"} else short(host.workspace),
        agent="of those in the settings",
        host="NAME, or NAME@VERSION" if "host" in kept else f"{host.dialect.name}   {view.because}",
    )
