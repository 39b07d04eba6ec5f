"""`hookscope demo`."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from hookscope.cli.lazy_group import ExampledCommand
from hookscope.cli.startup import open_console
from hookscope.model.failure import Refusal

# Other variables could point the demo to the user's own hosts, settings and records.
KEPT_VARIABLES = (
    *("PATH", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_"),
    *("SHELL", "EDITOR", "VISUAL", "TMPDIR"),
)


@click.command("demo", cls=ExampledCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def demo_command(folder: Path | None) -> int:
    """Practise with five small tasks in a workspace where nearly every hook has a problem.

    The files are in a new folder, which is removed at the end; DIR is kept. Your own hooks, settings and
    records are neither read nor changed.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal("The demo needs a terminal.", "Without one, start with `hookscope help start`.")
    if folder is not None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refusal(f"{folder} is not an empty folder.", "Name one that does not exist yet.")
        return _show_demo(folder)
    made = Path(tempfile.mkdtemp(prefix="hookscope-demo-"))
    try:
        return _show_demo(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _show_demo(folder: Path) -> int:
    """Write the demo, trust its handlers, and open the console there."""
    from hookscope.app.options import Options
    from hookscope.app.workbench import Workbench
    from hookscope.hosts.dialects.catalogues import write_demo
    from hookscope.runtime.executors import find_node

    folder = folder.absolute()
    workspace = write_demo(folder, typescript=bool(find_node(shutil.which("node")).languages))
    for name in [name for name in os.environ if not name.startswith(KEPT_VARIABLES)]:
        del os.environ[name]
    os.environ["HOME"] = str(folder / "home")
    os.chdir(workspace)
    Workbench(Options(workspace=workspace)).trust(workspace)
    return open_console({"workspace": workspace}, demo=True)
