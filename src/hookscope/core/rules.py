"""What a dialect is made of beside its systems: where a host keeps things, how it reads its settings, what
a load does, and what its own sentences are. Values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from hookscope.core.failure import Failure
from hookscope.core.runs import Module
from hookscope.formats.places import KeyPath
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.core.dialect import Host
    from hookscope.core.hooks import Hook
    from hookscope.core.inventory import Sources


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents of a host that has several."""

    workspaces: Mapping[str, str | None]  # by name; None: it names none of its own
    chosen: str | None = None  # the one that is looked at where nobody names another
    owner: str | None = None  # the one whose workspace is the host's own


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a host keeps its settings and folders."""

    state: str  # the state folder: "~/.openclaw"; empty: it has none but the workspace
    settings: str  # the settings file in it: "openclaw.json"; empty: it has none
    state_variable: str | None = None  # environment variables that move them
    settings_variable: str | None = None
    workspace_variable: str | None = None
    bundled_variable: str | None = None  # names the folder of bundled hooks
    bundles: bool = True  # False: the program looks in no bundled folder unless somebody names one
    workspace_path: KeyPath = ("agents", "defaults", "workspace")
    agents: Callable[[Mapping[str, Any]], Agents] | None = None  # whose workspaces the settings name
    workspace: str = "workspace"  # below the state folder, where nothing else names one
    hooks: tuple[KeyPath, ...] = (("hooks", "internal"),)  # where its hooks settings stand; first wins
    markers: tuple[str, ...] = ()  # paths below the workspace that show this host
    program: str = ""  # its command, by which its installed package is found
    packages: tuple[str, ...] = ()  # the names that its package may have
    version_path: KeyPath = ()  # where it writes its own version into its settings
    own_bundled: str = ""  # where in its package its own hooks lie


@dataclass(frozen=True, slots=True)
class SettingsRules:
    """How a host reads its settings, beside plain JSON5."""

    include: str | None = None  # the key of an object that stands for other files
    variables: bool = False  # is `${NAME}` replaced in texts
    dotenv: str | None = None  # a file below the state folder whose variables count as set
    project_dotenv: tuple[str, ...] = ()  # such files of the workspace, the strongest first
    env_path: KeyPath | None = None  # where the settings set variables themselves
    check: Callable[[Mapping[str, Any]], tuple[tuple[KeyPath, str], ...]] | None = None
    """What the host refuses: a path and its sentence for each."""
    refusal: str = ""  # the host's error text: {file} {issues}; empty: it goes on without its settings
    issue: str = "{path}: {text}"
    path_text: Callable[[KeyPath], str] | None = None  # how it writes a path; none: with dots
    advice: Callable[[KeyPath, str], str] | None = None  # what to do about such a sentence; empty: not known


@dataclass(frozen=True, slots=True)
class LoaderTexts:
    """The host's own sentences while it loads."""

    discovered: str | None = None  # {count}
    registered: str | None = None  # {emoji} {name} {events}
    legacy_registered: str | None = None  # {event} {module}
    complete: str | None = None  # {registered} {discovered} {skipped} {failed}
    not_loaded: str | None = None  # {file} {type} {error} {plain}: with and without what we say beside it
    no_function: str | None = None  # {file} {export}
    no_events: str | None = None  # {name}
    off: str | None = None
    loading: Mapping[str, str] = field(default_factory=dict)  # by source: said before each import
    never_sent: str | None = None  # {name} {what} {events}: events that the host does not know


class StrictLook(Protocol):
    """What ends a strict load before anything is imported."""

    def sources(self, host: Host, hooks: Iterable[Hook]) -> Sources:
        """What a load of these hooks leaves behind that is not strict."""

    def check(self, host: Host, before: Sources) -> tuple[Sources, tuple[str, str] | None]:
        """What a strict load leaves behind; and the hook that ends it, with the host's sentence."""


@dataclass(frozen=True, slots=True)
class LoadRules:
    """What a load replaces, what fails it, and what all hooks being off means."""

    plain: bool = False  # the host loads what its language does, and nothing is mended for a handler
    keeps_code: bool = False  # handlers registered by code outlive a load
    off_closes: bool = False  # switched off, events reach nobody, whoever has registered
    takes_classes: bool = False  # a class counts as loaded, and fails when it is called
    imports_idle: bool = False  # a hook without events is imported before it is passed over
    no_events: str | None = None  # what fails a hook without events; None: it is skipped
    failed: str = "{name}: {error}"  # the sentence of a strict load that was refused: {name} {file} {error}
    no_function: str = "{error}"  # in place of {error} there: {export} {file}
    reworded: Callable[[Failure, str], str] | None = None  # (failure, file): what is in place of {error}
    refuses: Callable[[Module], Failure | None] | None = None  # why a plugin that registers this fails
    imports_once: frozenset[str] = frozenset()  # sources whose files it keeps as it imported them first
    crosses: bool = False  # do plugins register handlers for the events of hook folders, too
    strict_look: StrictLook | None = None  # what a strict load asks of all folders before it imports anything


@dataclass(frozen=True, slots=True)
class Switching:
    """What switching a hook on or off means to this host."""

    also_true: tuple[KeyPath, ...] = ()  # settings that its command sets too, when it switches a hook on
    refuses_blocked: bool = False  # does its command refuse to switch on what could not run
    notices: str = ""  # when the host notices, as a sentence


@dataclass(frozen=True, slots=True)
class PackRules:
    """How packs reach this host."""

    key: str  # package.json → this → `hooks`
    whole: bool = False  # does it find the hooks that a package lists; else each hook lies by itself
