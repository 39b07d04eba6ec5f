"""How this package is installed: its version, the command that adds an extra, and the bundled hooks."""

import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shlex import quote


@cache
def install_command(extra: str) -> str:
    """Return the shell command that installs an extra: `pip install 'hookscope[lint]'`.

    It uses the installer that installed Hookscope: pipx, uv or pip.
    """
    requirement = quote(f"hookscope[{extra}]")
    prefix_parts = Path(sys.prefix).parts[-3:-1]
    if prefix_parts == ("pipx", "venvs"):
        return f"pipx runpip {quote(Path(sys.prefix).name)} install {requirement}"
    if find_spec("pip") is None:  # as in environments made by uv
        return f"uv pip install --python {_shell_path(sys.executable)} {requirement}"
    return f"{_python_command()} -m pip install {requirement}"


def _python_command() -> str:
    """Return the command that starts this Python: its name if PATH finds this Python by it, else its path."""
    from shutil import which  # importing it takes longer than a scan

    python_folder = os.path.dirname(sys.executable)
    for name in ("python", "python3"):
        program = which(name)
        if program is not None and os.path.dirname(os.path.abspath(program)) == python_folder:
            return name
    return _shell_path(sys.executable)


def _shell_path(path: str) -> str:
    home = os.path.expanduser("~")
    inside = home != "/" and path.startswith(f"{home}/")
    return f"~/{quote(path[len(home) + 1 :])}" if inside else quote(path)


def shipped_hooks() -> Path:
    """Return the folder of the bundled hooks: inside the wheel, or beside `src` in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "bundled_hooks"
    return installed if os.path.isdir(installed) else package.parent.parent / "bundled_hooks"


def installed_version() -> str:
    """Return the installed version; a placeholder when run from the sources alone."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hookscope")
    except PackageNotFoundError:
        return "(version unknown)"
