"""A project's own configuration, `.hookscope/config.yaml`: dialect, interpreters, limits, journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hookscope.core.surroundings import read_or_none
from hookscope.core.text import nearest, one_line, why_of
from hookscope.formats import FormatError, read_yaml
from hookscope.journal.retention import KEPT, Retention
from hookscope.runtime.limits import MIB, LimitName, Limits
from hookscope.workbench.masked_names import MASK, names_in
from hookscope.workbench.refusal import Refusal

PROJECT_FOLDER = ".hookscope"
CONFIG = f"{PROJECT_FOLDER}/config.yaml"
KEYS = ("dialect", "environment", "python", "node", "limits", "journal", "plugin_hooks", "mask")
LARGEST = 256 * 1024  # bytes: more than the reader of YAML takes
MOST = 2**62  # a number that a database can hold
LIMITS: tuple[LimitName, ...] = ("spawn", "load", "run", "warn", "memory")


def project_config(folder: Path) -> Mapping[str, object]:
    """`.hookscope/config.yaml` of a project; empty where there is none. Raises Refusal."""
    file = folder / CONFIG
    try:
        source = read_or_none(file, LARGEST)
        config = read_yaml(source) if source is not None else None
    except OSError as error:
        raise Refusal(
            f"Cannot read {file}: {why_of(error)}.", "Make it readable, or move it away.", code=2
        ) from None
    except FormatError as error:
        raise Refusal(f"{file}, {error}.", "Mend it, or name --dialect.", code=2) from None
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise Refusal(f"{file} wants a mapping, such as `dialect: NAME`.", code=2)
    return config


def unknown_in(project: Mapping[str, object]) -> tuple[str, ...]:
    """A sentence for each key that means nothing here: a slip of the pen, or of a newer version."""
    return tuple(_unknown(str(key)) for key in project if key not in KEYS)


def _unknown(key: str) -> str:
    near = nearest(key, KEYS)
    then = f"did you mean `{near}:`?" if near else f"there are {', '.join(KEYS)}."
    return f"{CONFIG} has `{one_line(key, 60)}:`, which says nothing; {then}"


def plugin_hooks_of(project: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """`plugin_hooks:` of a project's configuration. What is wrong within one is said beside it."""
    listed = project.get("plugin_hooks")
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        shape = "a list of mappings with `event` and `module`"
        raise Refusal(f"`plugin_hooks:` in {CONFIG} wants {shape}.", code=2)
    return tuple(listed)


def masked_names_of(project: Mapping[str, object]) -> tuple[str, ...]:
    """`mask:` of a project's configuration: the names whose values are masked. Raises Refusal."""
    listed = project.get(MASK)
    names = names_in(listed)
    if listed is not None and not names and listed != []:
        raise Refusal(f"`{MASK}:` in {CONFIG} wants a list of names, such as [CUSTOMER_ID].", code=2)
    return names


def limits_of(given: object) -> Limits:
    """`limits:` of a project's configuration: seconds, `memory` in MiB; 0 for none. Raises Refusal."""
    limits = Limits()
    if given is None:
        return limits
    names = ", ".join(LIMITS)
    if not isinstance(given, dict):
        raise Refusal(f"`limits:` in {CONFIG} wants a mapping with some of {names}.", code=2)
    for name, value in given.items():
        if name not in LIMITS:
            raise Refusal(f"`limits:` in {CONFIG} has {str(name)!r}; there are {names}.", code=2)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < float("inf"):
            unit = "MiB" if name == "memory" else "seconds"
            raise Refusal(f"`limits: {{{name}: …}}` in {CONFIG} wants {unit}, 0 for no limit.", code=2)
        limits = limits.with_limit(name, value * MIB if name == "memory" else value, CONFIG)
    return limits


def retention_of(given: object) -> Retention:
    """`journal:` of a project's configuration: `size` in MiB, `runs`. Raises Refusal."""
    if given is None:
        return KEPT
    if not isinstance(given, dict):
        raise Refusal(f"`journal:` in {CONFIG} wants a mapping with some of size, runs.", code=2)
    retention = KEPT
    for name, value in given.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if name == "runs" and whole and 0 < value < MOST:
            retention = replace(retention, runs=value)
        elif name == "size" and (whole or isinstance(value, float)) and 0 < value * MIB < MOST:
            retention = replace(retention, size=int(value * MIB))
        elif name not in ("size", "runs"):
            raise Refusal(f"`journal:` in {CONFIG} has {str(name)!r}; there are size, runs.", code=2)
        else:
            wants = "MiB" if name == "size" else "a number of runs"
            raise Refusal(f"`journal: {{{name}: …}}` in {CONFIG} wants {wants}, above 0.", code=2)
    return retention
