"""Makes `screenshots/tour.svg`, a hook of `hookscope demo` from blocked to fired: `python -m tests.tour`."""

import asyncio
import os
import re
import tempfile
from pathlib import Path
from shutil import rmtree, which

from tests.pictures import SCREENSHOTS, shown, until

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.app import Console
from hookscope.console.controllers.export_controller import picture_of
from hookscope.console.widgets.task_bar import DEMO_TASKS
from hookscope.hosts.dialects.catalogues import write_demo
from hookscope.runtime.executors import find_node

SIZE = (100, 30)
SECONDS = 4  # that each picture is shown
CAPTION_HEIGHT = 44


async def frames(bench: Workbench) -> list[tuple[str, str]]:
    """Return a caption and a picture of each step."""
    taken: list[tuple[str, str]] = []
    app = Console(bench, tasks=DEMO_TASKS)

    def take(caption: str) -> None:
        taken.append((f"{len(taken) + 1}  {caption}", picture_of(app)))

    async with app.run_test(size=SIZE, tooltips=True) as pilot:
        screen = app.screen
        await until(pilot, lambda: bool(screen.state.rows) and "DEPLOY_DIR is not" in shown(app))  # type: ignore[attr-defined]
        take("The hook is blocked, and the console shows why")
        await pilot.press("e")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press(*"/srv")
        await until(pilot, lambda: "/srv" in shown(app))
        take("e asks for the value that it needs")
        await pilot.press("enter")
        await until(pilot, lambda: '"DEPLOY_DIR": "/srv"' in shown(app))
        take("enter shows the edit of the host's settings")
        await pilot.press("w")
        await until(pilot, lambda: "deploy-note   ● ready" in shown(app))
        take("w writes it: the hook is ready")
        await pilot.press("f5")
        await until(pilot, lambda: not screen.state.job and "goes to /srv." in shown(app))  # type: ignore[attr-defined]
        await until(pilot, lambda: not app.workers)
        take("^r fires an event at it: this is what the handler did")
    await bench.close()
    return taken


def animated(pictures: list[tuple[str, str]]) -> str:
    """Return one SVG that shows the pictures in turn; without animation it shows the first."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', pictures[0][1])
    assert box is not None
    width, height = float(box[1]), float(box[2])
    share, total = 100 / len(pictures), SECONDS * len(pictures)
    style = (
        f"@keyframes turn {{ 0% {{ opacity: 1 }} {share:.3f}% {{ opacity: 0 }} 100% {{ opacity: 0 }} }} "
        f".turn {{ opacity: 0; animation: turn {total}s step-end infinite }} "
        ".turn:first-of-type { opacity: 1 } "
        ".caption { font: 22px sans-serif; fill: #d3d8df }"
    )
    parts = [
        f'<svg viewBox="0 0 {width:g} {height + CAPTION_HEIGHT:g}" xmlns="http://www.w3.org/2000/svg">',
        f'<style>{style}</style><rect width="100%" height="100%" rx="8" fill="#1b1e24"/>',
    ]
    for number, (caption, picture) in enumerate(pictures):
        parts.append(f'<g class="turn" style="animation-delay: {number * SECONDS}s">')
        parts.append(f'<text class="caption" x="20" y="30">{caption}</text>')
        parts.append(
            picture.replace("<svg ", f'<svg y="{CAPTION_HEIGHT}" width="{width:g}" height="{height:g}" ', 1)
        )
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Write the picture."""
    # A fixed name: pictures of the same console are the same.
    demo = Path(tempfile.gettempdir()) / "dev" / "hookscope-demo"
    rmtree(demo, ignore_errors=True)
    workspace = write_demo(demo, typescript=bool(find_node(which("node")).languages))
    os.environ |= {
        "TEXTUAL_ANIMATIONS": "none",
        "HOME": str(demo / "home"),
        "HOOKSCOPE_STATE_DIR": str(demo / "state"),
        "HOOKSCOPE_CONFIG_DIR": str(demo / "config"),
    }
    os.chdir(workspace)
    (demo / "none").mkdir()  # no hooks of this checkout: its path is not in the picture
    bench = Workbench(Options(workspace=workspace, bundled=demo / "none"))
    bench.trust(workspace)
    (SCREENSHOTS / "tour.svg").write_text(animated(asyncio.run(frames(bench))))


if __name__ == "__main__":
    main()
