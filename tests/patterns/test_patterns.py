"""Our patterns are the standard library's, and none is compiled before somebody uses it."""

import copy
import importlib
import pickle
import re
import subprocess
import sys

import pytest
from tests.test_architecture import FILES, SOURCE

from hookscope.patterns import _Unread, pattern

STARTS = """
import re, sys
compile_one, compiled = re.compile, []
def noted(text, flags=0):
    compiled.append(sys._getframe(1).f_code.co_filename)
    return compile_one(text, flags)
re.compile = noted
import hookscope.workbench, hookscope.cli.asked, hookscope.cli.run_tables, hookscope.engine
print([file for file in compiled if "hookscope" in file])
"""


def test_pattern_behaves_like_a_compiled_pattern() -> None:
    ours, theirs = pattern(r"(?P<name>\w+)=(\d)", re.ASCII), re.compile(r"(?P<name>\w+)=(\d)", re.ASCII)
    for text in ("a=1, b=2", "ä=1", ""):
        assert ours.findall(text) == theirs.findall(text)
        assert ours.sub(r"\g<name>", text) == theirs.sub(r"\g<name>", text)
        assert bool(ours.fullmatch(text)) is bool(theirs.fullmatch(text))
    assert (ours.pattern, ours.flags, ours.groups, ours.groupindex) == (
        theirs.pattern,
        theirs.flags,
        theirs.groups,
        theirs.groupindex,
    )


def test_copied_pattern_behaves_like_the_original() -> None:
    ours = pattern("a+")
    for other in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert other.findall("aab") == ["aa"]


def test_unknown_attribute_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="mach"):
        _ = pattern("a").mach  # type: ignore[attr-defined]


def test_invalid_expression_raises_at_first_use() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error, match="unterminated"):
        wrong.match("")


def test_every_pattern_of_the_program_compiles() -> None:
    parts = (("hookscope", *path.relative_to(SOURCE).with_suffix("").parts) for path in FILES)
    names = {".".join(part for part in each if part != "__init__") for each in parts}
    apart = {"hookscope.__main__"} | {name for name in names if ".python_worker." in name}
    modules = [importlib.import_module(name) for name in sorted(names - apart)]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, _Unread)]
    assert len(found) > 100
    assert all(one.groups >= 0 for one in found)


def test_imports_compile_no_pattern() -> None:
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
