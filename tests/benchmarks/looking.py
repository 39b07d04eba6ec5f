"""A look at a thousand hooks, cold and warm, beside PyYAML's loaders on the same headers and bare stats."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import yaml
from tests.benchmarks.building import HEADER, TYPESCRIPT, environment, seconds, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.formats.frontmatter import cut_header
from hookscope.formats.text_header import read_text_header
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.hook_status import Inventory
from hookscope.model.host import Host, Overrides, Trust
from hookscope.model.machine import Machine

COUNT = 1_000
GUIDE, SHIPPED = "openclaw", "openclaw@2026.9"


def cold(workspace: Path, dialect: str) -> tuple[Inventory, Host]:
    """Files that remember nothing, headers that were never read."""
    read_text_header.__globals__["_texts_of"].cache_clear()
    env = {**environment(["PATH"]), "MY_API_KEY": "x"}
    here = Machine("linux", env, cwd=workspace, home=workspace.parent)
    host = open_host(DIALECTS[dialect], here, Overrides(workspace=workspace), trust=Trust(everything=True))
    inventory = discover(host)
    assert len(inventory.hooks) == COUNT
    return inventory, host


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    hooks = write_hooks(folder / "guide" / "hooks", COUNT, header=HEADER)
    in_typescript = write_hooks(
        folder / "shipped" / "hooks", COUNT, header=HEADER, handler=TYPESCRIPT, file="handler.ts"
    )
    texts = [header.text for file in hooks.rglob("HOOK.md") if (header := cut_header(file.read_bytes()))]

    def stats() -> None:
        for entry in os.scandir(in_typescript):
            os.stat(f"{entry.path}/HOOK.md")

    def benched() -> Workbench:
        options = Options(workspace=in_typescript.parent, dialect=SHIPPED, bundled=folder / "none")
        return Workbench(options)

    def shipped() -> float:
        bench = benched()
        read_text_header.__globals__["_texts_of"].cache_clear()
        return seconds(bench.scan)

    kept = benched()

    def warm() -> float:
        kept.scan()  # what the others have pushed out of memory comes back
        return seconds(kept.scan)

    yield [
        Variant(
            "PyYAML's SafeLoader, headers alone", lambda: seconds(partial(parse, texts, yaml.SafeLoader))
        ),
        Variant(
            "PyYAML's CSafeLoader, headers alone", lambda: seconds(partial(parse, texts, yaml.CSafeLoader))
        ),
        Variant(f"cold look, {GUIDE}", lambda: seconds(partial(cold, hooks.parent, GUIDE))),
        Variant("and the handlers' sources", lambda: seconds(lambda: examine(*cold(hooks.parent, GUIDE)))),
        Variant(f"cold look, {SHIPPED}", shipped),
        Variant("a bare stat of each", lambda: seconds(stats), 3),
        Variant(f"warm look, {SHIPPED}", warm),
    ]


def parse(texts: list[str], loader: type[yaml.SafeLoader | yaml.CSafeLoader]) -> None:
    for text in texts:
        yaml.load(text, Loader=loader)


GROUP = Group(
    "looking",
    f"A look at {COUNT:,} hooks",
    opened,
    floor="PyYAML's CSafeLoader, headers alone",
    targets=(
        Target(f"cold look, {GUIDE}", 1 / 8, "PyYAML's SafeLoader, headers alone"),
        Target(f"cold look, {GUIDE}", 0.9, "PyYAML's CSafeLoader, headers alone"),
        Target(f"cold look, {SHIPPED}", 0.5, "PyYAML's SafeLoader, headers alone"),
        Target(f"warm look, {SHIPPED}", 3.0, "a bare stat of each"),
    ),
)
