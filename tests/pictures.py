"""Makes the pictures in `screenshots/` from the running console: `python -m tests.pictures`."""

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree
from textwrap import dedent

from tests.drawing import drawn
from textual.pilot import Pilot

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.app import Console
from hookscope.console.controllers.export_controller import picture_of
from hookscope.console.dialogs.saved_events import SavedScreen
from hookscope.console.panes.fire.composer import KeyField
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.fire_pane import FirePane
from hookscope.installation import shipped_hooks

SCREENSHOTS = Path(__file__).parent.parent / "screenshots"
SIZES = ((80, 24), (120, 36), (200, 50))
HOOKS = {
    "session-memory": (
        "Saves what was said when a conversation starts over",
        '{openclaw: {emoji: "💾", events: ["command:new"], requires: {config: [workspace.dir]}}}',
        """
        from pathlib import Path

        def handler(event):
            print("reading", event.context["sessionId"])
            root = Path(event.context["workspace_dir"])
            (root / "memory.md").write_text("what was said")
        """,
    ),
    "greet": (
        "Greets whoever starts over",
        '{openclaw: {emoji: "👋", events: ["command:new"]}}',
        """
        import time

        def handler(event):
            time.sleep(0.012)
            event.messages.append(f"Hello {event.context['senderId']}")
            event.context["greeted"] = True
        """,
    ),
    "draft-check": (
        "Looks over the drafts before they are used",
        "{openclaw: {events: [agent:bootstap]}}",
        "def handler(event): pass",
    ),
    "deploy-note": (
        "Notes every deployment",
        '{openclaw: {events: ["command:new"], requires: {bins: [jq-1.9], env: [DEPLOY_DIR]}}}',
        "def handler(event): pass",
    ),
    "standup": (
        "Adds what was done to the morning's notes",
        '{openclaw: {emoji: "📝", events: ["command:new"]}}',
        """
        import { appendFileSync, unlinkSync } from "node:fs";
        import type { HookHandler } from "../../src/hooks/hooks.js";

        const standup: HookHandler = (event) => {
          appendFileSync("notes.md", `- started over at ${event.timestamp.getFullYear()}\\n`);
          unlinkSync("draft.md");
          event.messages.push("Noted for the standup");
        };

        export default standup;
        """,
    ),
    "half-done": (
        "Still being written",
        "{openclaw: {events: [command]}}",
        "def handler(event):\n    return event.context[\n",
    ),
}


PLUGINS = {
    "plugins/workdir/plugin.py": """
        def stay_home(event, ctx):
            return {"params": {**event.params, "cwd": "~/agent"}}

        def register(api):
            api.on("before_tool_call", stay_home, priority=10)
        """,
    "plugins/guard/index.ts": """
        export default function register(api) {
          api.on("before_tool_call", async (event) => {
            if (event.params.command.startsWith("rm ")) {
              return { block: true, blockReason: "nothing is deleted on a Friday" };
            }
          }, { priority: 20 });
        }
        """,
    "plugins/audit/index.ts": """
        export default (api) => {
          api.registerHook({ event: "before-tool-call", priority: 100, handler: async () => {} });
        };
        """,
}
STREAM = {
    "agent/instructions.md": "You are a helpful assistant.",
    "agent/hooks/audit.ts": """
        import { defineHook } from "eve/hooks";

        export default defineHook({
          events: {
            "message.received"(event) { console.info("asked:", event.data.message); },
            "*"(event) { console.info(event.type); },
          },
        });
        """,
    "agent/hooks/office-hours.py": """
        from hookscope import define_hook

        def closed(event, ctx):
            ctx.cancel()

        default = define_hook(events={"message.received": closed})
        """,
}


SAVED = """
event: command:new
context: {senderId: Ada, commandSource: telegram}
expect:
  messages: ["Good morning, Ada"]
  context: {greeted: true}
"""


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(source).strip() + "\n")


def write_hooks(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        description, metadata, handler = HOOKS[name]
        (folder / name).mkdir(parents=True)
        header = f"---\nname: {name}\ndescription: {description}\nmetadata: {metadata}\n---\n"
        (folder / name / "HOOK.md").write_text(header)
        file = "handler.ts" if "import type" in handler else "handler.py"
        (folder / name / file).write_text(dedent(handler).strip() + "\n")


async def until(pilot: Pilot[None], done: Callable[[], bool]) -> None:
    """Wait for a named condition, and for the picture to settle behind it."""
    while not done():
        await pilot.pause(0.05)
    for _ in range(4):
        await pilot.pause()


async def take_looks(bench: Workbench) -> None:
    """The hooks in other colours, and in none."""
    for name in ("hookscope-light", "hookscope-ansi", "no-color"):
        if name == "no-color":
            os.environ["NO_COLOR"] = "1"
        app = Console(bench, watches=False)
        os.environ.pop("NO_COLOR", None)
        async with app.run_test(size=SIZES[1], tooltips=True) as pilot:
            screen = app.screen
            await until(pilot, lambda: bool(screen.state.rows))  # type: ignore[attr-defined] # noqa: B023
            if app.theme != name and name != "no-color":
                app.theme = name
            await pilot.press("1")
            await until(pilot, lambda: not app.workers)  # noqa: B023
            save(app, f"hooks-{name.removeprefix('hookscope-')}", SIZES[1])
    await bench.close()


async def take(bench: Workbench, size: tuple[int, int]) -> None:
    app = Console(bench)
    async with app.run_test(size=size, tooltips=True) as pilot:
        screen = app.screen
        await until(pilot, lambda: bool(screen.state.rows))  # type: ignore[attr-defined]
        await pilot.press("slash", *"deploy", "enter")
        await pilot.press("escape")
        save(app, "hooks", size)
        await pilot.press("2", "f5")
        await until(pilot, lambda: not screen.state.job and bool(app.query("FirePane")))  # type: ignore[attr-defined]
        await until(pilot, lambda: not app.workers)
        save(app, "fire", size)
        (bench.setup.machine.cwd / "draft.md").write_text("a draft\n")  # the run before has deleted it
        await pilot.press("f7")
        await until(pilot, lambda: not screen.state.job and not app.workers)  # type: ignore[attr-defined]
        app.screen.query_one("#fire-run Waterfall").focus()
        await pilot.press("down", "down")  # from the handler that failed, past the last
        await until(pilot, lambda: True)
        save(app, "copies", size)
        await pilot.press("3")
        await until(pilot, lambda: size[1] < 30 or "session-memory  <0.1 ms" in shown(app))
        save(app, "log", size)
        await pilot.press("v")
        await until(pilot, lambda: "Session" in shown(app))
        save(app, "session", size)
        await pilot.press("escape", "m")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        save(app, "menu", size)
        await pilot.press("escape", "4")
        await until(pilot, lambda: not app.workers and "Milady" in shown(app))
        await pilot.press("down", "down")
        await until(pilot, lambda: True)
        save(app, "hosts", size)
    await bench.close()


async def take_one(bench: Workbench, size: tuple[int, int], key: str, name: str, change: str = "") -> None:
    """One event fired: its context with `ls` in place of which `change` stands."""
    app = Console(bench)
    async with app.run_test(size=size, tooltips=True) as pilot:
        screen = app.screen
        await until(pilot, lambda: bool(screen.state.rows))  # type: ignore[attr-defined]
        await pilot.press("2", "ctrl+@")
        await pilot.press(
            *("full_stop" if one == "." else "underscore" if one == "_" else one for one in key), "enter"
        )
        await until(pilot, lambda: screen.query_one(KeyField).is_mounted)
        if change:
            editor = screen.query_one(JsonEditor)
            editor.text = editor.text.replace('"ls"', f'"{change}"')
        await pilot.press("f5")
        await until(pilot, lambda: not screen.state.job and not app.workers)  # type: ignore[attr-defined]
        screen.query_one("#fire-run Waterfall").focus()
        await until(pilot, lambda: True)
        save(app, name, size)
        if name == "tool-call":
            await pilot.press("b")
            await until(pilot, lambda: "waits before workdir" in shown(app))
            await pilot.press("b")
            await until(pilot, lambda: "waits before guard" in shown(app))
            save(app, "steps", size)
            await pilot.press("Q")
            await until(pilot, lambda: not screen.state.job and not app.workers)  # type: ignore[attr-defined]
    await bench.close()


async def take_debugged(bench: Workbench, size: tuple[int, int]) -> None:
    """A handler where an error has left it, and what its event held."""
    app = Console(bench)
    async with app.run_test(size=size, tooltips=True) as pilot:
        screen = app.screen
        await until(pilot, lambda: bool(screen.state.rows))  # type: ignore[attr-defined]
        await pilot.press("2", "B")
        await until(pilot, lambda: "at its first line" in shown(app))
        await pilot.press("f8")
        await until(pilot, lambda: "KeyError" in shown(app))
        await pilot.press("greater_than_sign", *"event.context", "enter")
        await until(pilot, lambda: "commandSource" in shown(app))
        save(app, "debug", size)
        await pilot.press("escape", "Q")
        await until(pilot, lambda: not screen.state.job and not app.workers)  # type: ignore[attr-defined]
    await bench.close()


async def take_expected(bench: Workbench, size: tuple[int, int]) -> None:
    """A saved event, loaded and fired: its run is not what the file expects. And that run beside the next."""
    app = Console(bench)
    async with app.run_test(size=size, tooltips=True) as pilot:
        screen = app.screen
        await until(pilot, lambda: bool(screen.state.rows))  # type: ignore[attr-defined]
        await pilot.press("2", "f2")
        await until(pilot, lambda: isinstance(app.screen, SavedScreen))
        await pilot.press(*"new-basic", "enter")
        await until(pilot, lambda: screen.query_one(FirePane).event_view.loaded is not None)
        await pilot.press("f5")
        pane = screen.query_one(FirePane)
        await until(
            pilot,
            lambda: pane.run_view.runs.current is not None and pane.run_view.runs.current.checked is not None,
        )
        await until(pilot, lambda: not app.workers)
        save(app, "expected", size)
    await bench.close()


def shown(app: Console) -> str:
    """The words on the screen."""
    strips = drawn(app)
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def save(app: Console, name: str, size: tuple[int, int]) -> None:
    file = SCREENSHOTS / f"{name}-{size[0]}x{size[1]}.svg"
    file.write_text(picture_of(app))


def main() -> None:
    """Every mode at every size."""
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    SCREENSHOTS.mkdir(exist_ok=True)
    for size in SIZES:
        dev = Path(tempfile.gettempdir()) / "dev"  # a fixed name: pictures of the same console are the same
        rmtree(dev, ignore_errors=True)
        home = dev / "home"
        agent = home / "agent"
        write_hooks(agent / "hooks", ("session-memory", "greet", "draft-check", "half-done", "standup"))
        write_hooks(home / ".openclaw" / "hooks", ("greet", "deploy-note"))
        (agent / "notes.md").write_text("# Notes\n\n- wrote the hook\n")
        (agent / "draft.md").write_text("a draft\n")
        (home / ".openclaw" / "openclaw.json").write_text("{hooks: {internal: {enabled: true}}}\n")
        os.environ["HOOKSCOPE_STATE_DIR"] = str(home / "state")
        os.environ["HOOKSCOPE_CONFIG_DIR"] = str(home / "config")
        os.chdir(agent)
        os.environ["HOME"] = str(home)
        (home / "none").mkdir()
        bundled = home / "lib" / "bundled_hooks"  # no picture shows where it was taken
        copytree(shipped_hooks(), bundled)
        bench = Workbench(Options(bundled=bundled))
        bench.trust(home, everything_below=True)
        asyncio.run(take(bench, size))
        if size == SIZES[1]:
            asyncio.run(take_looks(Workbench(Options(bundled=bundled))))
            (home / "state" / "theme.json").unlink()  # the colours that were chosen last would be worn again
        kept = home / "ada" / "agent"  # a home without other hooks
        write_hooks(kept / "hooks", ("greet",))
        write_files(kept, {".hookscope/events/new-basic.yaml": SAVED})
        os.chdir(kept)
        os.environ["HOME"] = str(home / "ada")
        asyncio.run(take_expected(Workbench(Options(bundled=home / "none")), size))
        alone = home / "grace" / "agent"
        write_hooks(alone / "hooks", ("session-memory",))
        os.chdir(alone)
        os.environ["HOME"] = str(home / "grace")
        bench = Workbench(Options(bundled=home / "none"))
        bench.trust(alone)
        asyncio.run(take_debugged(bench, size))
        os.environ["HOME"] = str(home)
        os.chdir(agent)
        write_files(agent, PLUGINS)
        bench = Workbench(Options(bundled=bundled, dialect="openclaw"))
        asyncio.run(take_one(bench, size, "before_tool_call", "tool-call", "rm notes.md"))
        write_files(agent, STREAM)
        bench = Workbench(Options(bundled=bundled, dialect="eve@0.80"))
        asyncio.run(take_one(bench, size, "message.received", "stream"))


if __name__ == "__main__":
    main()
