"""Sentences, frames and empty panes name the keys in force: no text of the console spells a key by itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import hookscope.console
from hookscope.app.preferences import KeyPreference, KeysFile
from hookscope.console.keymap.active_keys import (
    DEFAULT_KEYMAP,
    KEY_PLACEHOLDER,
    all_actions,
    binding_of,
    key_hints,
    key_in,
    key_of,
    resolve_keymap,
    use_keymap,
    with_keys,
)
from hookscope.model.hook import FilePosition

ROOT = Path(hookscope.console.__path__[0])
# A key as a sentence names it: `esc`, `^r`, `F9`; a letter or sign that stands alone before a word.
NAME = r"(?<![\w'.\-^{])(?:esc|enter|tab|pgup|pgdn|space|\^\w+|[fF]\d{1,2}|ctrl\+\w+)(?![\w.=])"
KEY = re.compile(NAME + r"|(?:^|(?<=\s))[b-zB-HJ-Z\d=/\[\]](?=\s+[a-z])")
# Looks like one and is none: `1 thing`, `ended after 2 s`, plurals, the open tab of a run.
NONE = re.compile(r"^1 [a-z]|\d of \d|after \d s|^ ?s (?:were|have|limit)|the open tab says")
SPELLED = ("keymap/active_keys.py", "keymap/key_listing.py")


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """All texts of a module but docstrings, bindings, and names of actions."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                if ast.get_docstring(node, clean=False) is not None:
                    skipped.add(id(getattr(node.body[0], "value", None)))
            case ast.Call(func=ast.Name(id="Binding")):
                skipped |= {id(inner) for inner in ast.walk(node)}
            case ast.Assign(targets=[ast.Name(id=name)]) if name.endswith("_ACTIONS"):  # of bindings
                skipped |= {id(inner) for inner in ast.walk(node)}
            case ast.Assign(targets=[ast.Name(id="DEFAULT_CSS")]):
                skipped.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def test_texts_of_the_console_take_keys_from_the_keymap() -> None:
    """Keys come from `key_of`, `with_keys` or `hints` of keymap/hints.py; `enter` in a field is ENTER."""
    spelled, named = [], set[str]()
    prefixes = {name.partition(".")[0] for name in all_actions()}
    for file in sorted(ROOT.rglob("*.py")):
        place = str(file.relative_to(ROOT))
        for line, text in texts(ast.parse(file.read_text())):
            named |= set(KEY_PLACEHOLDER.findall(text))
            if re.fullmatch(r"[a-z]+\.[a-z_]+", text) and text.partition(".")[0] in prefixes:
                named.add(text)
            if KEY.search(text) and not NONE.search(text) and place not in SPELLED:
                spelled.append(f"{place}:{line}: {text}")
    assert not spelled
    assert len(named) > 40
    assert named - {"console.tcss", "app.command_palette"} <= set(all_actions())


def test_hints_name_the_configured_key_or_the_palette() -> None:
    place = FilePosition(Path("keys.yaml"))
    wishes = {"hooks.fix": ("f8",), "hooks.edit": (), "otherwise.left": ("left", "h")}
    wished = tuple(KeyPreference(name, keys, place) for name, keys in wishes.items())
    force = resolve_keymap(KeysFile(place.file, preferences=wished))
    told = [key_in(force, name) for name in ("hooks.fix", "hooks.edit", "otherwise.left", "hooks.undo")]
    assert told == ["f8", "^p Edit", "←", "u"]
    use_keymap(force)
    try:
        bar = key_hints(("hooks.fix", "fix"), ("hooks.edit", "edit"), ("hooks.undo", "undo"))
        assert bar.plain == "f8 fix   u undo"
        assert len(bar.spans) == 2  # each is clicked by itself
        assert with_keys("{hooks.edit} or {hooks.fix}; {hooks}") == "^p Edit or f8; {hooks}"
    finally:
        use_keymap(DEFAULT_KEYMAP)
    assert key_of("hooks.fix") == "e"
    assert all(binding_of(name).id == name for name in all_actions())
