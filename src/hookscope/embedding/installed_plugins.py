"""Plugins installed as Python packages: entry points of the group `hookscope.plugins`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from importlib.metadata import EntryPoint, entry_points
from inspect import isawaitable

from hookscope.embedding.library import log
from hookscope.embedding.plugin_api import PluginApi
from hookscope.engine.argument_checks import NONE_TYPE, expect
from hookscope.engine.hook_engine import HookEngine
from hookscope.model.text import printable
from hookscope.runtime.python_worker.safe_values import safe_text
from hookscope.values import dataclass

GROUP = "hookscope.plugins"


@dataclass(frozen=True, slots=True)
class LoadedPlugins:
    """The result of a plugin load: names, and for the failed ones the error as text."""

    loaded: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


def discover_plugins() -> tuple[str, ...]:
    """Return the sorted plugin names (entry points of `hookscope.plugins`), without importing plugins."""
    return tuple(sorted(_points()))


async def load_plugins(
    names: Collection[str] | None = None, *, engine: HookEngine | None = None
) -> LoadedPlugins:
    """Import installed plugins and call their `register(api)`, in order of name.

    An entry point names `register` itself, or a module or object that has it; it may be async. A
    plugin that was loaded before is registered again. A failure is logged with the plugin's name;
    the plugin registers nothing, its earlier registrations stay, and the other plugins are loaded.

    Args:
        names: the plugins to load. None: all.
        engine: the engine to register with; the process's own by default.

    Returns the loaded names, and the failed ones with the error. Raises LookupError for a name that
    is not installed, TypeError for an argument of another type.
    """
    expect(names, (Collection, NONE_TYPE), "names must be a list of plugins")
    if isinstance(names, str):
        raise TypeError("names must be a list of plugins, not a str: put it in brackets, `names=[…]`")
    expect(engine, (HookEngine, NONE_TYPE), "engine must be a HookEngine")
    points = _points()
    missing = [name for name in names or () if name not in points]
    if missing:
        known = ", ".join(sorted(points)) or "none"
        raise LookupError(f"There is no installed plugin {missing[0]!r}; installed are: {known}.")
    loaded: list[str] = []
    failed: dict[str, str] = {}
    for name in sorted(points if names is None else set(names)):
        error = await _load(points[name], PluginApi(name, engine=engine))
        if error is None:
            loaded.append(name)
        else:
            failed[name] = error
    return LoadedPlugins(tuple(loaded), failed)


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


async def _load(point: EntryPoint, api: PluginApi) -> str | None:
    """Load one plugin; return the error as text, or None."""
    try:
        loaded = point.load()
        register = getattr(loaded, "register", loaded)
        if not callable(register):
            raise TypeError(f"{point.value} is not a function `register(api)`, and has none")
        returned = register(api)
        if isawaitable(returned):
            await returned
    except Exception as error:  # a plugin may raise anything
        api.unregister_all()
        text = f"{type(error).__name__}: {safe_text(error)}"
        log.error("Plugin %s failed to load: %s", point.name, printable(text))
        return text
    api.replace_older()
    return None
