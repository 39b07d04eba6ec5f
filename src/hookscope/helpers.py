"""Find and start helper programs: everything that Hookscope runs for itself.

Scans, shell completion and the start of the console run only the helpers in `HELPERS`. A
helper comes from an absolute folder of the user's real PATH, from an installed package, or from the
running Python. Relative PATH entries and entries inside the workspace (links resolved) are skipped,
since the workspace chooses them. A what-if environment has no effect here: only `os.environ` is
read.

Handlers, package managers, the editor and the console in a browser are started elsewhere, by
commands that the user asked to run something. Those commands find their programs here.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path

from hookscope.values import dataclass

HELPERS: Mapping[str, str] = {
    "node": "reports its version, if hooks need Node",
    "python": "the interpreter for handlers; `doctor` reads its version",
    "bwrap": "tested before a run with --sandbox",
    "ps": "reads processes on systems without /proc",
    "hookscope.hosts.source.parser_process": "parses TypeScript and JavaScript for lint",
}
"""All programs that a scan may start, and what each one is for."""

# Variables that load code into a program, removed for every program that Hookscope starts.
LOADER_VARIABLES = frozenset(
    {"GCONV_PATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "NODE_OPTIONS"}
)
LOADER_PREFIXES = ("LD_", "DYLD_")
FOLDERS_OF_PYTHON = ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP")

Folders = Iterable[str | Path]


def workspace_roots(folders: Folders) -> tuple[str, ...]:
    """Return the real folders that count as the workspace: `folders` and their git checkouts.

    Checkouts around a checkout count too, as for a submodule: the author of the outer one chose the
    inner one. A folder that contains the user's HOME belongs to the user and does not count.
    """
    home = os.path.expanduser("~")
    found = dict.fromkeys(_real(folder) for folder in folders)
    for folder in tuple(found):
        above = (folder, *map(str, Path(folder).parents))
        with suppress(ValueError):  # as in `_real`
            found |= dict.fromkeys(root for root in above if os.path.lexists(os.path.join(root, ".git")))
    if not os.path.isabs(home):  # a relative HOME depends on the current folder
        return tuple(found)
    return tuple(folder for folder in found if not _inside(_real(home), folder))


def user_path(workspace: Folders = (), path: str | None = None) -> tuple[str, ...]:
    """Return the absolute folders of a PATH, by default the user's, outside the workspace."""
    entries = os.environ.get("PATH", "") if path is None else path
    return _outside(entries.split(os.pathsep), _roots(workspace))


def is_user_program(path: str, workspace: Folders = ()) -> bool:
    """Return whether a path is absolute and, with links resolved, outside the workspace."""
    return bool(_outside([path], _roots(workspace)))


def find_program(name: str, workspace: Folders = (), path: str | None = None) -> str | None:
    """Return the absolute path of the first program of that name in `user_path`, or None.

    A link that leads into the workspace is skipped.
    """
    roots = _roots(workspace)
    for folder in user_path(workspace, path):
        program = os.path.join(folder, name)
        if os.path.isfile(program) and os.access(program, os.X_OK) and not _in_any(_real(program), roots):
            return program
    return None


def user_command(words: Sequence[str], workspace: Folders = ()) -> list[str]:
    """Return a command of the user's, such as an editor, with the program's absolute path.

    Raises FileNotFoundError if the user's PATH has no such program outside the workspace, and for a
    relative path, since the current folder would choose its target.
    """
    program = words[0] if os.path.isabs(words[0]) else None
    reason = "a relative path depends on the current folder"
    if program is None and os.sep not in words[0]:
        program, reason = (
            find_program(words[0], workspace),
            "no program of that name on PATH outside the workspace",
        )
    if program is None:
        raise FileNotFoundError(errno.ENOENT, reason, words[0])
    return [program, *words[1:]]


@contextmanager
def only_user_path(workspace: Folders = ()) -> Iterator[None]:
    """Set PATH to `user_path` inside the block, for library code that searches programs itself."""
    previous_path = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join(user_path(workspace))
    try:
        yield
    finally:
        if previous_path is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = previous_path


def user_environment(workspace: Folders = ()) -> dict[str, str]:
    """Return the user's environment for a program that Hookscope starts for itself.

    PATH becomes `user_path`, Python's folder variables lose relative and workspace folders, and
    NODE_OPTIONS is removed.
    """
    roots = _roots(workspace)
    env = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
    for name in ("PATH", *FOLDERS_OF_PYTHON):
        if name in env:
            env[name] = os.pathsep.join(_outside(env[name].split(os.pathsep), roots))
            if not env[name] and name != "PATH":
                del env[name]
    return {**env, "PYTHONSAFEPATH": "1"}


def without_foreign_loaders(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without variables that load code, unless the user's own environment has them.

    A what-if, a `.env` file or a setting could otherwise run code in the worker of a trusted
    handler.
    """
    return {
        name: value
        for name, value in env.items()
        if not (name in LOADER_VARIABLES or name.startswith(LOADER_PREFIXES)) or os.environ.get(name) == value
    }


@dataclass(frozen=True, slots=True)
class HelperOutput:
    """The output and exit code of a helper; the code is None if it timed out and was killed."""

    code: int | None
    output: bytes

    @property
    def text(self) -> str:
        """The output, decoded as UTF-8."""
        return self.output.decode("utf-8", "replace")


def helper_output(
    command: Sequence[str],
    *,
    seconds: float,
    text: str = "",
    workspace: Folders = (),
    pass_fds: Sequence[int] = (),
) -> HelperOutput:
    """Run a helper outside the workspace, and return its output. Raises OSError if it cannot be started."""
    import subprocess  # imported late: most scans start no helper

    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # else a version manager would follow the workspace
            env={**user_environment(workspace), "LC_ALL": "C", "TZ": "UTC"},  # the same output everywhere
            timeout=seconds,
            check=False,
            pass_fds=pass_fds,
        )
    except subprocess.TimeoutExpired as late:
        return HelperOutput(None, late.stdout or b"")
    except ValueError as error:  # a null byte in a name
        raise OSError(str(error)) from None
    return HelperOutput(done.returncode, done.stdout)


def own_python(module: str, *arguments: str, workspace: Folders = ()) -> tuple[str, ...]:
    """Return the command that runs a module of Hookscope in an isolated Python.

    It reads no PYTHON* variable, and neither the current folder nor the workspace is on its import
    path. It finds the packages that this process finds.
    """
    run = "import runpy; runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
    code = f"import sys; sys.path[:] = {import_path(workspace)!a}; {run}"
    flags = [*(["-B"] if sys.dont_write_bytecode else []), *(["-X", "utf8"] if sys.flags.utf8_mode else [])]
    return (sys.executable, "-I", *flags, "-c", code, module, *arguments)


def installed_package(name: str) -> tuple[str, ...]:
    """Return the folders of an installed package, none of them in the workspace. Imports nothing."""

    spec = PathFinder.find_spec(name, import_path())
    return tuple(spec.submodule_search_locations or ()) if spec is not None else ()


def import_path(workspace: Folders = ()) -> list[str]:
    """Return this process's import path without relative folders and folders of the workspace.

    The running Python and Hookscope may be in a virtual environment inside the workspace. The user
    started them, so their folders are kept.
    """
    roots = _roots(workspace)
    ours = [_real(path) for path in (sys.prefix, sys.base_prefix, Path(__file__).parent.parent)]
    kept = []
    for entry in filter(os.path.isabs, sys.path):
        real = _real(entry)
        containing_roots = [root for root in roots if _inside(real, root)]
        if all(any(_inside(real, own) and _inside(own, root) for own in ours) for root in containing_roots):
            kept.append(entry)
    return kept


def _roots(workspace: Folders) -> tuple[str, ...]:
    """Return the roots of the workspace and of the current folder."""
    current = []
    with suppress(OSError):  # it was removed
        current.append(os.getcwd())
    return workspace_roots((*workspace, *current))


def _outside(folders: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
    absolute = filter(os.path.isabs, folders)
    return tuple(folder for folder in absolute if not _in_any(_real(folder), roots))


def _real(path: str | Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a null byte in it
        return os.path.abspath(path)


def _in_any(path: str, roots: Iterable[str]) -> bool:
    """Return whether a real path is inside one of the roots, by its name or by device and inode number."""
    if any(_inside(path, root) for root in roots):
        return True
    identities = {one for one in map(_identity, roots) if one is not None}
    return any(_identity(folder) in identities for folder in (path, *map(str, Path(path).parents)))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _inside(path: str, folder: str) -> bool:
    inner, outer = os.path.normcase(path), os.path.normcase(folder)
    return inner == outer or inner.startswith(outer if outer.endswith(os.sep) else outer + os.sep)
