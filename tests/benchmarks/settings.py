"""Settings read and one key switched, beside json5 and json-five, which share a module's name.

So json-five stands in a folder of its own: pip install --target .benchmarks/json-five json-five
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.building import NOT_INSTALLED, answering, peer, seconds
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope.formats.json5 import read_json5
from hookscope.storage.edits.json5_edit import with_setting

ENTRIES = 300
SWITCHED = 150
PATH = ("hooks", "internal", "entries", f"hook-{SWITCHED:04}", "enabled")
JSON_FIVE = Path(__file__).parents[2] / ".benchmarks" / "json-five"
FIVE = """
import sys
from time import perf_counter
import json5
from json5.dumper import ModelDumper
from json5.loader import ModelLoader

text = open(sys.argv[1]).read()
toggles = sys.argv[2] == "toggle"
for line in sys.stdin:
    began = perf_counter()
    if toggles:  # with its comments, as ours
        json5.dumps(json5.loads(text, loader=ModelLoader()), dumper=ModelDumper())
    else:
        json5.loads(text)
    print(perf_counter() - began, flush=True)
"""


def document() -> str:
    """Settings as people keep them, with their comments."""
    lines = ["// My settings: comments stay.", "{", "  hooks: {", "    internal: {", "      enabled: true,"]
    lines += ["      entries: {"]
    lines += [
        f"        'hook-{number:04}': {{ enabled: true, env: {{ MY_API_KEY: 'k-{number}' }} }},  // since May"
        for number in range(ENTRIES)
    ]
    return "\n".join([*lines, "      },", "    },", "  },", "}", ""])


def toggle(source: bytes) -> None:
    """One key, and no other byte."""
    new = with_setting(source, PATH, False)
    old_line = f"'hook-{SWITCHED:04}': {{ enabled: true".encode()
    assert new == source.replace(old_line, old_line.replace(b"true", b"false"))


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    text = document()
    source = text.encode()
    (folder / "settings.json").write_text(text)
    with ExitStack() as stack:

        def json_five(name: str, what: str) -> Variant:
            if not (JSON_FIVE / "json5").is_dir():
                return Variant(name, None, missing=NOT_INSTALLED)
            argv = (sys.executable, "-c", FIVE, str(folder / "settings.json"), what)
            env = {**os.environ, "PYTHONPATH": str(JSON_FIVE)}
            return Variant(name, stack.enter_context(answering(*argv, env=env)))

        def rewrite(json5: Any) -> None:
            value = json5.loads(text)
            value["hooks"]["internal"]["entries"][PATH[3]]["enabled"] = False
            json5.dumps(value, indent=2)

        yield [
            Variant("read, ours", lambda: seconds(partial(read_json5, source)), 5),
            peer("read, json5", "json5", lambda json5: lambda: seconds(partial(json5.loads, text))),
            json_five("read, json-five", "read"),
            Variant(
                "one key switched, every other byte kept, ours", lambda: seconds(partial(toggle, source)), 5
            ),
            peer(
                "read and written anew without comments, json5",
                "json5",
                lambda json5: lambda: seconds(partial(rewrite, json5)),
            ),
            json_five("read and written anew with comments, json-five", "toggle"),
        ]


OURS = "one key switched, every other byte kept, ours"
GROUP = Group(
    "settings",
    f"Settings of {len(document()) // 1000} kB",
    opened,
    floor="read, ours",
    targets=(
        Target("read, ours", 1 / 500, "read, json5"),
        Target("read, ours", 1 / 50, "read, json-five"),
        Target(OURS, 1 / 10, "read and written anew without comments, json5"),
        Target(OURS, 1 / 10, "read and written anew with comments, json-five"),
    ),
)
