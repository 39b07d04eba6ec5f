"""The Host that an embedding program describes by arguments instead of files in a home folder."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hookscope.engine import argument_checks
from hookscope.hosts.dialects import DEFAULT, dialect_named
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import given_settings
from hookscope.model.host import Host, Overrides, Settings, Trust
from hookscope.model.machine import Machine, real_machine


@argument_checks.names_guide_keywords
def embedded_host(
    workspace_path: str | Path | None = None,
    bundled_dir: str | Path | None = None,
    extra_dirs: Iterable[str | Path] = (),
    internal_config: Mapping[str, Any] | None = None,
    host_config: Mapping[str, Any] | None = None,
    dialect: str = DEFAULT.name,
    *,
    surroundings: Machine | None = None,
) -> Host:
    """Return the Host that an embedding program describes, for `HookEngine`; everything is trusted.

    Takes the arguments of `load_hooks` and raises the same errors. Reads the settings file if no
    settings are given, and runs nothing.

    Source: guides 000 ("loadHooks") and 004 ("Configuration").
    """
    _check_types(workspace_path, bundled_dir, internal_config, host_config, dialect, surroundings)
    argument_checks.expect_folders(extra_dirs, "extra_dirs")
    extra_dirs = tuple(extra_dirs)
    for folder in extra_dirs:
        argument_checks.expect_folder(folder, "each of extra_dirs")
    chosen = dialect_named(dialect)
    machine = surroundings or real_machine()
    overrides = Overrides(
        workspace=machine.absolute(workspace_path) if workspace_path else None,
        bundled=machine.absolute(bundled_dir) if bundled_dir else None,
        extra=tuple(machine.absolute(folder) for folder in extra_dirs),
    )
    file = machine.absolute(chosen.layout.state) / chosen.layout.settings
    settings = _given_settings(internal_config, host_config, file)
    return open_host(chosen, machine, overrides, trust=Trust(everything=True), settings=settings)


def _check_types(
    workspace_path: object,
    bundled_dir: object,
    internal_config: object,
    host_config: object,
    dialect: object,
    surroundings: object,
) -> None:
    """Raise TypeError for an argument of the wrong type."""
    for folder, name in ((workspace_path, "workspace_path"), (bundled_dir, "bundled_dir")):
        if folder is not None:
            argument_checks.expect_folder(folder, name)
    argument_checks.expect_mapping(internal_config, "internal_config")
    argument_checks.expect_mapping(host_config, "host_config")
    argument_checks.expect(dialect, str, f"dialect must be a name, such as `{DEFAULT.name}`")
    argument_checks.expect_machine(surroundings)


def _given_settings(
    internal_config: Mapping[str, Any] | None, host_config: Mapping[str, Any] | None, file: Path
) -> Settings | None:
    """Return the settings that were passed, or None to read the host's own file."""
    if internal_config is None and host_config is None:
        return None
    value = dict(host_config or {})
    if internal_config is not None:
        hooks = value.get("hooks")
        value["hooks"] = {**(hooks if isinstance(hooks, Mapping) else {}), "internal": internal_config}
    return given_settings(value, file)
