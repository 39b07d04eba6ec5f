"""How long a cold look takes, beside what PyYAML alone needs for the same headers. Ratios in one run.

Run with HOOKSCOPE_BENCHMARKS=1.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest
import yaml

from hookscope.core.dialect import Choices, Host, Trust
from hookscope.core.examine import examine
from hookscope.core.hooks import Inventory
from hookscope.core.look import look
from hookscope.core.surroundings import Surroundings
from hookscope.dialects import DIALECTS
from hookscope.formats import cut_header, read_text_header
from hookscope.settings import open_host
from hookscope.workbench import Options, Workbench

pytestmark = pytest.mark.skipif(
    not os.environ.get("HOOKSCOPE_BENCHMARKS"), reason="a benchmark; HOOKSCOPE_BENCHMARKS=1 runs it"
)

COUNT = 1_000
ROUNDS = 5
TARGET = 1 / 5

HEADER = """---
name: session-memory-{number}
description: "Save session context to memory when /new command is issued"
homepage: https://docs.example.org/automation/hooks#session-memory-{number}
metadata:
  openclaw:
    emoji: "💾"
    events: ["command:new"]
    export: "default"
    homepage: "https://docs.example.org"
    requires:
      bins: ["git"]
      anyBins: ["npm", "yarn"]
      env: ["MY_API_KEY"]
      config: ["workspace.dir"]
    os: ["linux", "darwin"]
    always: false
    install:
      - id: "bundled"
        kind: "bundled"
        label: "Bundled with the host"
---

# Session memory

Saves what was said.
"""
HANDLER = "def handler(event):\n    event.messages.append('saved')\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for number in range(COUNT):
        folder = tmp_path / "workspace" / "hooks" / f"hook-{number:04}"
        folder.mkdir(parents=True)
        (folder / "HOOK.md").write_text(HEADER.format(number=number))
        (folder / "handler.py").write_text(HANDLER)
    return tmp_path / "workspace"


def seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def test_a_cold_look_takes_a_fifth_of_what_parsing_alone_would(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = []
    for file in sorted(workspace.rglob("HOOK.md")):
        header = cut_header(file.read_bytes())
        assert header is not None
        headers.append(header.text)

    def parse_alone() -> None:
        for text in headers:
            yaml.load(text, Loader=yaml.SafeLoader)

    def cold() -> tuple[Inventory, Host]:
        env = {"PATH": os.environ["PATH"], "MY_API_KEY": "x"}
        here = Surroundings("linux", env, cwd=workspace, home=workspace.parent)  # files that remember nothing
        host = open_host(
            DIALECTS["openclaw"], here, Choices(workspace=workspace), trust=Trust(everything=True)
        )
        inventory = look(host)
        assert len(inventory.hooks) == COUNT
        return inventory, host

    def cold_with_sources() -> object:
        return examine(*cold())

    cold()
    rounds = [(seconds(parse_alone), seconds(cold), seconds(cold_with_sources)) for _ in range(ROUNDS)]
    alone, ours, examined = (median(column) for column in zip(*rounds, strict=True))
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{COUNT} hooks: SafeLoader alone {alone * 1e3:.0f} ms, look {ours * 1e3:.0f} ms "
            f"(ratio {ours / alone:.3f}), with handlers' sources {examined * 1e3:.0f} ms "
            f"(ratio {examined / alone:.3f}); load average {os.getloadavg()[0]:.1f}"
        )
    assert ours / alone <= TARGET


def test_a_shipped_dialect_cold_and_warm(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The wishes were an eighth of SafeLoader's time cold, and thrice the time of bare stats warm.

    Neither is reached: PyYAML's C parser alone takes a tenth, and links, boundaries and gates are looked at
    for each hook. The bounds are what was reached, so that it stays so.
    """
    for handler in workspace.rglob("handler.py"):
        handler.rename(handler.with_suffix(".ts"))
    texts = [header.text for file in workspace.rglob("HOOK.md") if (header := cut_header(file.read_bytes()))]

    def stat_floor() -> None:
        for entry in os.scandir(workspace / "hooks"):
            os.stat(f"{entry.path}/HOOK.md")

    def fresh() -> Workbench:
        return Workbench(Options(workspace=workspace, dialect="openclaw@2026.9", bundled=workspace / "none"))

    rounds = []
    for _ in range(ROUNDS):
        bench = fresh()
        read_text_header.__globals__["_texts_of"].cache_clear()
        rounds.append(
            (
                seconds(lambda: [yaml.load(text, Loader=yaml.SafeLoader) for text in texts]),
                seconds(lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]),
                seconds(stat_floor),
                seconds(bench.look),
                seconds(bench.look),
            )
        )
    safe, c_safe, floor, cold, warm = (median(column) for column in zip(*rounds, strict=True))
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{COUNT} hooks under openclaw@2026.9: cold {cold * 1e3:.0f} ms, {cold / safe:.2f} of "
            f"SafeLoader, {cold / c_safe:.1f} of CSafeLoader; warm {warm * 1e3:.1f} ms, {warm / floor:.1f} "
            "of the stat floor"
        )
    assert cold / safe <= 0.5
    assert warm / floor <= 8


def test_list_as_a_process_beside_an_import_of_textual(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = workspace.parent / "small"
    (small / "hooks").mkdir(parents=True)
    for folder in sorted((workspace / "hooks").iterdir())[:10]:
        folder.rename(small / "hooks" / folder.name)
    command = [sys.executable, "-m", "hookscope", "--workspace", str(small), "list", "--json"]

    def ran(*argv: str) -> float:
        return seconds(lambda: subprocess.run(argv, check=True, stdout=subprocess.DEVNULL))

    rounds = [(ran(sys.executable, "-c", "import textual.app"), ran(*command)) for _ in range(7)]
    textual, ours = (median(column) for column in zip(*rounds, strict=True))
    with capsys.disabled():
        print(f"\nlist --json {ours * 1e3:.0f} ms, {ours / textual:.2f} of an import of textual")  # noqa: T201
    assert ours / textual <= 1.2
