"""Which host is here, and whose rules apply: what is named, else what is found. Nothing is run."""

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.dialect import Choices, Dialect
from hookscope.core.surroundings import Files, Surroundings
from hookscope.dialects import DEFAULT, GUIDES, SHIPPED, UnknownDialect, dialect_named
from hookscope.settings.opening import settings_file, state_folder
from hookscope.workbench.installed import NEWEST, Installed, asking, installed, nearest_shipped
from hookscope.workbench.neighbours import said_of, shows
from hookscope.workbench.project import CONFIG
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.workbench.options import Options

# A folder `plugins` alone says nothing. The last: it is a plugin itself, as most authors' folders are.
PLUGIN_SIGNS = ("plugins/*/plugin.py", "plugins/*/*.plugin.json", "*.plugin.json")
PLUGIN_SCRIPTS = "plugins/*/index.[tj]s"  # many a project has such: what they call says whose they are
REGISTERING = (b"api.on(", b"registerHook(", b"definePluginEntry(")
MOST_SCRIPTS, LARGEST_SCRIPT = 20, 64 * 1024
LOGGED = frozenset(("commands.log", "commands.log.1", "commands.lock"))  # what command-logger writes
LOCK = ".hookscope-lock"  # how the names end of what changes/ locks by; looking loads none of that


def chosen_dialect(
    options: "Options", project: Mapping[str, object], surroundings: Surroundings
) -> tuple[Dialect, str, str]:
    """The dialect in force, why, and a notice where several hosts were found.

    Raises Refusal where the dialect that is named is none.
    """
    try:
        if options.dialect is not None:
            return dialect_named(options.dialect), "named by --dialect", ""
        if "dialect" in project:
            return dialect_named(str(project["dialect"])), f"named in {CONFIG}", ""
    except UnknownDialect as error:
        where = "" if options.dialect is not None else f"`dialect:` in {CONFIG}: "
        raise Refusal(f"{where}{error}", code=2) from None
    signs = ((dialect, sign_of(dialect, options, surroundings)) for dialect in GUIDES)
    found = [(dialect, sign) for dialect, sign in signs if sign is not None and not _is_our_log(sign)]
    if not found:
        folder = surroundings.absolute(options.workspace or ".")
        return DEFAULT, "no host was found", said_of(folder, GUIDES, surroundings)
    if _left_by_a_run(found[0][1], surroundings):  # the settings say more than a folder that a fire can make
        here = [pair for pair in found if _in_workspace(pair[0], options, surroundings)]
        real = [pair for pair in found if pair not in here and not _left_by_a_run(pair[1], surroundings)]
        found = [*here, *real] if here else found
    dialect, sign = found[0]
    others = ", ".join(other.product for other, _ in found[1:])
    notice = (
        f"Found {dialect.product} and {others}: using {dialect.name}; --dialect picks another."
        if others
        else ""
    )
    settings = settings_file(dialect, surroundings, Choices(config=options.config))
    host_here = installed(dialect, surroundings, settings, surroundings.absolute(options.workspace or "."))
    shipped = shipped_of(dialect, host_here) if host_here is not None else None
    if host_here is None or shipped is None:
        return dialect, f"found {surroundings.short(sign)}", notice
    told_by = surroundings.short(host_here.told_by)
    if host_here.asked:
        return shipped, f"{told_by} asks for {dialect.product} {host_here.asked}", notice
    return shipped, f"found {dialect.product} {host_here.version} by {told_by}", notice


def sign_of(dialect: Dialect, options: "Options", surroundings: Surroundings) -> Path | None:
    """The file or folder that shows that this host is here."""
    layout = dialect.layout
    if options.config is not None and options.config.name == layout.settings:
        return surroundings.absolute(options.config)
    if (marker := _in_workspace(dialect, options, surroundings)) is not None:
        return marker
    places = [settings_file(dialect, surroundings, Choices())] if layout.settings else []
    if layout.state:
        places.append(state_folder(dialect, surroundings))
    return next((path for path in places if os.path.lexists(path)), None)  # an unreadable one counts


def _in_workspace(dialect: Dialect, options: "Options", surroundings: Surroundings) -> Path | None:
    """What shows that the workspace itself is this host's."""
    workspace = surroundings.absolute(options.workspace or ".")
    places = (workspace / marker for marker in dialect.layout.markers)
    found = next(filter(shows, places), None)
    has_hooks = any((workspace / "hooks").glob("*/HOOK.md"))  # they say more than a package.json
    if found is not None or has_hooks:
        return found
    return asking(dialect, surroundings, workspace)


def _left_by_a_run(sign: Path, surroundings: Surroundings) -> bool:
    """Is this no more than a folder in HOME, as one hook that writes a file there leaves it behind."""
    return os.path.isdir(sign) and sign.parent == surroundings.home and not os.path.isdir(sign / "hooks")


def _is_our_log(sign: Path) -> bool:
    """Is this a folder in which nothing lies but what command-logger writes, of our bundled hooks, and the
    lock of an edit that was taken back: then we made it, under that host's rules, and no host did."""
    try:
        held = [name for name in os.listdir(sign) if not name.endswith(LOCK)]
        return held == ["logs"] and LOGGED.issuperset(os.listdir(sign / "logs"))
    except OSError:  # a file, or none that we may read
        return False


def has_plugins(surroundings: Surroundings) -> bool:
    """Are there plugins in the current folder, or is it one."""
    here = surroundings.cwd
    if any(found for sign in PLUGIN_SIGNS for found in here.glob(sign)):
        return True
    scripts = islice(here.glob(PLUGIN_SCRIPTS), MOST_SCRIPTS)
    return any(_registers(script, surroundings.files) for script in scripts)


def _registers(script: Path, files: Files) -> bool:
    """Does it look like a plugin of OpenClaw; read in part, run never."""
    try:
        text = files.read(script, LARGEST_SCRIPT)
    except OSError:
        return False
    return any(words in text for words in REGISTERING)


def shipped_of(dialect: Dialect, host_here: Installed | None) -> Dialect | None:
    """For a guide: the program as it ships, in the installed version or else the newest that is known."""
    if dialect.version:
        return None
    known = [other for other in SHIPPED if other.product == dialect.product]
    if host_here is not None:
        return nearest_shipped(host_here, known)
    return nearest_shipped(Installed(NEWEST, Path()), known)


def dialect_after(dialect: Dialect) -> Dialect:
    """The next one, a host's guide and its shipped versions behind one another; after the last the first."""
    order = [one for guide in GUIDES for one in (guide, *(o for o in SHIPPED if o.product == guide.product))]
    at = next((index for index, one in enumerate(order) if one.name == dialect.name), -1)
    return order[(at + 1) % len(order)]
