"""Files of the kinds that a sample of 166 public HOOK.md files met: each gets one calm, correct answer.

The answer is what `list` says (a hook with its state, or no hook), why, and the rule that names the mistake.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.linting import lint_hooks
from hookscope.model.hook_status import Inventory

from .conftest import WriteHook

CODE = "def handler(event):\n    print(event.type)\n"
LINE = 'metadata: {"NS": {"events": ["gateway:startup"]}}\n'
GUIDES = ("openclaw", "milady", "eliza")
NEWEST = ("openclaw@2026.9",)
BY_LINES = ("milady@2.0.0-alpha.76", "eliza@2.0.0-beta.2")
UNREAD = "no events", "metadata-spelling"
NONE = "no frontmatter", "header-missing"


class Kind(NamedTuple):
    """One kind of file; the answers of guides, of OpenClaw as shipped, of the two that read line by line.

    An answer is what is said and the rule that is named; both empty: all is well.
    """

    files: dict[str, str | bytes]
    guides: tuple[str, str]
    newest: tuple[str, str]
    by_lines: tuple[str, str]


def written(metadata: str = LINE) -> str:
    return f"---\nname: tidy\ndescription: Tidies.\n{metadata}---\n\n# Tidy\n"


def kind(manifest: str | bytes, *answers: tuple[str, str], **files: str) -> Kind:
    guides, newest, by_lines = answers if len(answers) == 3 else answers * 3
    return Kind({"HOOK.md": manifest, **(files or {"handler.py": CODE})}, guides, newest, by_lines)


FINE = "", ""
NO_HANDLER = "no handler", "handler-extension"
EMPTY = "is empty", "file-empty"
KINDS: dict[str, Kind] = {
    "YAML": kind(written('metadata:\n  NS:\n    events: ["gateway:startup"]\n'), FINE, FINE, UNREAD),
    "JSON on one line": kind(written(), FINE),
    "JSON on the lines after": kind(
        written('metadata:\n  {\n    "NS": {\n      "events": ["gateway:startup"],\n    },\n  }\n'),
        FINE, FINE, UNREAD,
    ),
    "one quoted text": kind(
        written("metadata: '{\"NS\": {\"events\": [\"gateway:startup\"]}}'\n"),
        ("must be a mapping", "metadata-quoted"), FINE, FINE,
    ),
    "no metadata": kind(written(""), ("no events", "metadata-missing")),
    "no header": kind("# Tidy\n", NONE, ("no header", "header-missing"), NONE),
    "trailing commas": kind(
        written('metadata: {"NS": {"events": ["gateway:startup",],},}\n'), FINE, FINE, UNREAD
    ),
    "no file": kind("", EMPTY, ("no header", "file-empty"), EMPTY),
    "an empty handler": kind(written(), ("", "file-empty"), **{"handler.ts": ""}),
    "prose": kind("Hooks should be small.\n", NONE, ("no handler", "header-missing"),
                  ("no handler", "header-missing"), **{"notes.txt": ""}),
    "a byte order mark": kind(
        b"\xef\xbb\xbf" + written().encode(), FINE, FINE, ("byte order mark", "header-missing")
    ),
    "CRLF": kind(written().replace("\n", "\r\n"), FINE),
    "UTF-16": kind(
        written().encode("utf-16"), ("UTF-16", "header-broken"), ("no header", "header-broken"),
        ("UTF-16", "header-broken"),
    ),
    "Latin-1": kind(
        written().replace("Tidies", "Räumt").encode("latin-1"), ("not UTF-8", "header-broken"), FINE, FINE
    ),
    "mojibake": kind(written('metadata: {"NS": {"emoji": "ðŸ’¾", "events": ["gateway:startup"]}}\n'), FINE),  # noqa: RUF001
    "two handlers": kind(
        written(), ("", "handler-twice"), **{"handler.py": CODE, "index.py": CODE}
    ),
    "a module of a strange kind": kind(written(), NO_HANDLER, **{"handler.tsx": CODE}),
    "another namespace": kind(
        written('metadata: {"strange": {"events": ["gateway:startup"]}}\n'),
        ("no events", "metadata-namespace"),
    ),
    "curly quotes": kind(
        written('metadata: {“NS”: {“events”: [“gateway:startup”]}}\n'), ("no events", "metadata-namespace")
    ),
    "keys at the top": kind(written('events: ["gateway:startup"]\n'), ("no events", "key-misplaced")),
    "a text for a list": kind(
        written('metadata: {"NS": {"events": "gateway:startup"}}\n'),
        ("must be a list", "field-type"), FINE, ("no events", "field-type"),
    ),
    "tabs": kind(
        written('metadata:\n\tNS:\n\t\tevents: ["gateway:startup"]\n'),
        ("a tab is used", "header-broken"), ("no events", "header-broken"), ("no events", "header-broken"),
    ),
    "a header without an end": kind(
        "---\nname: tidy\n", ("no closing", "header-broken"), ("no header", "header-broken"),
        ("no frontmatter", "header-broken"),
    ),
    "a line before the header": kind("\n" + written(), NONE, ("no header", "header-missing"), NONE),
    "a name twice": kind(written(f"{LINE}name: tidy\n"), ("appears twice", "header-broken"), FINE, FINE),
    "no name": kind(
        written().replace("name: tidy\n", ""), ("", ""), ("", ""), ("without `name`", "")
    ),
    "TOML": kind('+++\nname = "tidy"\n+++\n', NONE, ("no header", "header-missing"), NONE),
}  # fmt: skip


def said_of(inventory: Inventory, folder: Path) -> str:
    """All that a look says of one folder, but for what is not a mistake of its author."""
    for row in inventory.hooks:
        if row.hook.path == folder:
            shut = [
                gate for gate in row.verdict.failed() if gate.name not in ("trusted", "enabled", "selected")
            ]
            if not shut:
                return ""
            return "; ".join([*(gate.reason for gate in shut), *row.hook.notes, *row.hook.meta.notes])
    return next(one.reason for one in inventory.rejected if one.path == folder)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_bad_file_gets_the_right_finding(
    kind: Kind, tmp_path: Path, write_hook: WriteHook
) -> None:
    for dialects, (said, rule) in ((GUIDES, kind.guides), (NEWEST, kind.newest), (BY_LINES, kind.by_lines)):
        for dialect in dialects:
            product = dialect.partition("@")[0]
            for name, content in kind.files.items():
                source = content if isinstance(content, bytes) else content.encode()
                utf_16 = ("NS".encode("utf-16-le"), product.encode("utf-16-le"))
                ours = source.replace(*utf_16).replace(b"NS", product.encode())
                folder = write_hook({name: ours})
            options = Options(dialect=dialect, workspace=folder.parent.parent, bundled=tmp_path / "none")
            bench = Workbench(options)
            told = said_of(bench.scan().inventory, folder)
            assert bool(told) == bool(said), (dialect, told)
            assert said in told, (dialect, told)
            rules = {one.rule for one in lint_hooks(bench, [folder]).report.findings}
            python = {"handler-extension"}  # that only Hookscope runs it, where a host ships
            assert rules - (python - {rule}) == ({rule} if rule else set()), (dialect, rules)


def test_typographic_quotes_are_named(tmp_path: Path, write_hook: WriteHook) -> None:
    header = written("metadata: {“openclaw”: {“events”: [“gateway:startup”]}}\n")
    folder = write_hook({"HOOK.md": header, "handler.py": CODE})
    bench = Workbench(Options(dialect="openclaw", workspace=folder.parent.parent, bundled=tmp_path / "none"))
    (finding,) = lint_hooks(bench, [folder]).report.findings
    assert finding.text.startswith("The curly quotes around `“openclaw”` are part of the name")
    assert finding.next_step == 'Replace them with straight quotes (`"`).'


def test_a_header_is_limited_to_64_kib(tmp_path: Path, write_hook: WriteHook) -> None:
    """A text behind it may be longer, and may even be cut within a letter; a longer header is refused."""
    long = "ä" * 70_000
    folder = write_hook({"HOOK.md": written().replace("NS", "openclaw") + long, "handler.py": CODE})
    bench = Workbench(Options(dialect="openclaw", workspace=folder.parent.parent, bundled=tmp_path / "none"))
    assert said_of(bench.scan().inventory, folder) == ""
    write_hook({"HOOK.md": f"---\nname: tidy\ndescription: {long}\n---\n"})
    assert "no closing `---` within its first 64 KiB" in said_of(bench.scan().inventory, folder)
