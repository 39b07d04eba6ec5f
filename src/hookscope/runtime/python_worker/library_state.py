"""Settings of the whole process that modules of the standard library keep, where they are loaded."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, NamedTuple  # noqa: UP035  (3.9)

DECIMAL = (28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0)  # precision, rounding, Emin, Emax, capitals, clamp
DECIMAL_NAMES = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
POLICY = ("_local", "_watcher")  # what an untouched event loop policy holds
WARNING = 30

_modules, _getattr, _type, _tuple = sys.modules, getattr, type, tuple


class Setting(NamedTuple):
    """One setting of a module."""

    module: str
    words: str
    known: Any  # as it is when the module has just been loaded
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]
    is_kept: bool = False  # what is set while a hook is loaded stays, as it does in its host


class LibraryState:
    """Settings before any handler; `restore` puts them back."""

    def __init__(self) -> None:
        self._known: Dict[str, Any] = {setting.words: setting.known for setting in SETTINGS}  # noqa: UP006

    def restore(self, changed: List[str], is_load: bool) -> None:  # noqa: UP006
        """Put back what differs, and add it to `changed`."""
        for setting in SETTINGS:
            module = _modules.get(setting.module)
            if module is None:
                continue
            now, before = setting.read(module), self._known[setting.words]
            if now == before:
                continue
            if is_load and setting.is_kept:
                self._known[setting.words] = now
                continue
            setting.write(module, before)
            changed.append(setting.words)


def _context_state(context: Any) -> Any:
    return _tuple([_getattr(context, name) for name in DECIMAL_NAMES])


def _decimal(module: Any) -> Any:
    return _context_state(module.getcontext()), _context_state(module.DefaultContext)


def _set_decimal(module: Any, known: Any) -> None:
    for context, values in zip((module.getcontext(), module.DefaultContext), known):  # noqa: B905  (3.9)
        for name, value in zip(DECIMAL_NAMES, values):  # noqa: B905  (3.9)
            setattr(context, name, value)


def _logging(module: Any) -> Any:
    root = module.root
    handlers, filters = _tuple(root.handlers), _tuple(root.filters)
    return root.level, handlers, filters, root.disabled, root.manager.disable, module.raiseExceptions


def _set_logging(module: Any, known: Any) -> None:
    root = module.root
    root.level, handlers, filters, root.disabled, root.manager.disable, module.raiseExceptions = known
    root.handlers[:], root.filters[:] = handlers, filters
    root.manager._clear_cache()


def _policy(module: Any) -> Any:
    policy = _getattr(module, "_event_loop_policy", None)
    if policy is None or (_type(policy).__module__[:8] == "asyncio." and not set(vars(policy)) - set(POLICY)):
        return None
    return policy


def _set_policy(module: Any, _: Any) -> None:
    module._event_loop_policy = None


def _temporary(module: Any) -> Any:
    """The folder that a handler has set; None where it is one that the module itself finds."""
    folder = module.tempdir
    return None if folder is None or folder in module._candidate_tempdir_list() else folder


SETTINGS = (
    Setting(
        "tempfile",
        "tempfile.tempdir",
        None,
        _temporary,
        lambda module, _: setattr(module, "tempdir", None),
    ),
    Setting(
        "_socket",
        "the default timeout of sockets",
        None,
        lambda module: module.getdefaulttimeout(),
        lambda module, known: module.setdefaulttimeout(known),
    ),
    Setting("decimal", "the decimal context", (DECIMAL, DECIMAL), _decimal, _set_decimal),
    Setting(
        "logging",
        "the root logger",
        (WARNING, (), (), False, 0, True),
        _logging,
        _set_logging,
        is_kept=True,
    ),
    Setting("asyncio.events", "the event loop policy", None, _policy, _set_policy),
    Setting(
        "asyncio.events",
        "the running event loop",
        None,
        lambda module: module._get_running_loop(),
        lambda module, known: module._set_running_loop(known),
    ),
)
