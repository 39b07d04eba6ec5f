"""Any bytes at all: a calm answer, soon."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.lint.header import HEADER_LIMIT, ignored_in_header, ignored_in_source, read_header
from hookscope.authoring.lint.linting import lint_hooks
from hookscope.engine.discovery import discover_system
from hookscope.hosts.source.facts import HandlerFacts
from hookscope.hosts.source.python import python_facts
from hookscope.hosts.source.script_parsing import ScriptSource, parser_missing_message, read_scripts
from hookscope.model.machine import RealFiles

from .conftest import Lint, WriteHook

words = st.sampled_from(
    ["---\n", "---\r\n", "\ufeff", "name: x\n", "metadata:", " {", "}", "openclaw", ": ", "events", "[", "]",
     '"', "'", "command:new", ",", "\n", "  ", "\t", "é", "\0", "&a", "*a", "|", "- ", "#", "always: true"]
)  # fmt: skip
manifests = st.one_of(
    st.binary(max_size=300),
    st.lists(words, max_size=40).map(lambda parts: "".join(parts).encode()),
    st.lists(words, max_size=40).map(lambda parts: ("---\n" + "".join(parts) + "\n---\n").encode()),
)
code = st.sampled_from(
    ["event", ".context", ".type", "[", "]", '"a"', "==", "process.env.", "os.environ", "(", ")",
     "{", "}", "=>",
     "def handler(event):\n", "    ", "\n", "return ", "import ", "`", "${", "/", "*", "//", "#", "if ", ":",
     "hookscope: ignore[a]", "é", "\0", "lambda", "await ", "const ", "=", "...", "class ", "\\"]
)  # fmt: skip
sources = st.one_of(st.text(max_size=200), st.lists(code, max_size=60).map("".join))
quietly = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(manifests)
def test_any_header_is_read_or_refused(source: bytes) -> None:
    header = read_header(source)
    ignored_in_header(header)
    assert header.position_of(("metadata", "openclaw", "events", 0)) >= (1, 1)
    assert header.exists or not header.value


@given(sources)
def test_any_source_gives_facts(text: str) -> None:
    facts = python_facts(text.encode("utf-8", "surrogatepass"))
    lines = text.split("\n")
    for mets in (facts.env, facts.fields, facts.guards, facts.homes):
        assert all(1 <= met.line <= len(lines) for met in mets)
    ignored_in_source(text)


@settings(max_examples=5)
@given(st.lists(sources, min_size=20, max_size=60))
def test_any_scripts_are_parsed(texts: Sequence[str]) -> None:
    scripts = [ScriptSource(str(number), text, number % 2 == 0) for number, text in enumerate(texts)]
    read = read_scripts(scripts)
    assert len(read) == len(texts)
    assert all(isinstance(facts, HandlerFacts) for facts in read.values())


@quietly
@given(manifests, sources)
def test_any_hook_is_linted(write_hook: WriteHook, manifest: bytes, handler: str) -> None:
    folder = write_hook({"HOOK.md": manifest, "handler.py": handler.encode("utf-8", "replace")})
    for dialect in ("openclaw", "openclaw@2026.9", "milady@2.0.0-alpha.76"):
        linted = lint_hooks(Workbench(Options(dialect=dialect)), [folder])
        assert len(linted.report.subjects) == 1
        assert all(finding.text and finding.rule for finding in linted.report.findings)


KIB = 1024
HUGE: dict[str, bytes] = {
    "a header of 70 KiB": b"---\nname: x\ndescription: " + b"x" * 70 * KIB + b"\n---\n",
    "a header without an end": b"---\n" + b"name: x\n" * 20 * KIB,
    "a small header and a long text": b"---\nname: tidy\nmetadata: {openclaw: {events: [gateway]}}\n---\n"
    + "é".encode() * 100 * KIB,
    "brackets": b"---\nmetadata: " + b"[" * 60 * KIB + b"\n---\n",
    "braces as json": b"---\nname: x\nmetadata:\n  {" + b'{"a":' * 12 * KIB + b"\n---\n",
    "quotes": b"---\nmetadata: '" + b"\"'" * 30 * KIB + b"\n---\n",
    "one long key": b"---\n" + b"k" * 60 * KIB + b": x\n---\n",
    "spaces": b"---\nmetadata:" + b" " * 60 * KIB + b"x\n---\n",
    "dashes": b"---\n" + b"--- -\n" * 10 * KIB,
    "null bytes": b"---\n" + b"\0" * 60 * KIB + b"\n---\n",
}


@pytest.mark.parametrize("source", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9", "milady", "eliza@2.0.0-beta.2"])
def test_huge_headers_are_answered(
    source: bytes, dialect: str, lint_under: Lint, write_hook: WriteHook
) -> None:
    folder = write_hook({"HOOK.md": source, "handler.ts": "export default () => {};\n"})
    assert lint_under(folder, dialect=dialect).report.subjects


class CountingFiles(RealFiles):
    """The disk, and how much of each HOOK.md was taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[int] = []

    def read(self, path: Path, limit: int = -1) -> bytes:
        source = super().read(path, limit)
        if path.name == "HOOK.md":
            self.taken.append(len(source))
        return source


def test_at_most_64_kib_of_a_header_are_read(write_hook: WriteHook) -> None:
    """The header's end is what is looked for; a text after it may be longer."""
    from hookscope.authoring.lint.linting import host_facts
    from hookscope.authoring.lint.subject_reader import read_subjects

    folder = write_hook(
        {"HOOK.md": HUGE["a header without an end"], "handler.py": "def handler(event): ...\n"}
    )
    bench = Workbench(Options(dialect="openclaw", workspace=folder.parent.parent))
    host = bench.open()
    inventory = discover_system(host.dialect.systems[0], host)
    files = CountingFiles()
    (subject,) = [one for one in read_subjects(inventory, host_facts(host), files) if one.folder == folder]
    assert max(files.taken) == HEADER_LIMIT + 1
    assert len(subject.header.source) <= HEADER_LIMIT


def test_a_header_over_the_limit_says_so(lint_under: Lint, write_hook: WriteHook) -> None:
    folder = write_hook({"HOOK.md": HUGE["a header of 70 KiB"], "handler.py": "def handler(event): ...\n"})
    (finding,) = lint_under(folder).report.findings
    assert finding.rule == "header-broken"
    assert "64 KiB" in finding.text


DEEP: dict[str, str] = {
    "parentheses": "(" * 10_000,
    "calls": "f(" * 10_000 + ")" * 10_000,
    "members": "process" + ".env" * 10_000,
    "conditions": "if (!" * 5_000,
    "types": "const x = " + "(" * 5_000 + "process.env.A" + ")" * 5_000,
    "templates": "`${" * 5_000,
    "a long line": "use(process.env.A);" * 5_000,
    "one string": '"' + "a" * 200_000 + '"',
}


def test_deep_and_long_scripts_are_answered() -> None:
    read = read_scripts([ScriptSource(name, text, len(name) % 2 == 0) for name, text in DEEP.items()])
    assert read.keys() == DEEP.keys()


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_and_long_python_is_answered(text: str) -> None:
    assert isinstance(python_facts(text.encode("utf-8", "surrogatepass")), HandlerFacts)


def test_a_handler_that_is_a_pipe_is_not_read(lint_under: Lint, write_hook: WriteHook) -> None:
    import os

    folder = write_hook(
        {"HOOK.md": '---\nname: tidy\nmetadata: {openclaw: {events: ["command:new"]}}\n---\n'}
    )
    os.mkfifo(folder / "handler.ts")
    report = lint_under(folder).report
    assert {finding.rule for finding in report.findings} == {"handler-missing"}
    assert {one.why for one in report.not_run} == {f"{folder / 'handler.ts'}: it cannot be read"}


# The child that parses


@pytest.fixture
def grammars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """grammars(body) puts a module of ours in the place of the grammars, outside of every workspace."""

    def replace(body: str) -> None:
        folder = tmp_path / "fake"
        folder.mkdir()
        (folder / "tree_sitter_typescript.py").write_text(body)
        monkeypatch.syspath_prepend(folder)

    return replace


FAKE = """
import os, time

import hookscope.hosts.source.script as script
import tree_sitter_javascript

language_typescript = tree_sitter_javascript.language
honest = script.script_facts

def script_facts(root, source):
    if b"CRASH" in source:
        os.abort()
    if b"HANG" in source:
        time.sleep(60)
    return honest(root, source)

script.script_facts = script_facts
"""


def test_a_parser_crash_affects_one_script_only(grammars: Callable[[str], None]) -> None:
    grammars(FAKE)
    scripts = [ScriptSource(name, f"use(process.env.A); // {name}", True) for name in ("one", "CRASH", "two")]
    read = read_scripts(scripts)
    assert isinstance(read["one"], HandlerFacts)
    assert isinstance(read["two"], HandlerFacts)
    assert read["CRASH"] == "the parser ended with exit code -6"


def test_a_script_that_hangs_the_parser_is_skipped(grammars: Callable[[str], None]) -> None:
    grammars(FAKE)
    scripts = [ScriptSource(name, f"use(process.env.A); // {name}", True) for name in ("HANG", "two")]
    read = read_scripts(scripts, seconds=1.5)
    assert read["HANG"] == "the parser took too long"
    assert isinstance(read["two"], HandlerFacts)


def test_many_scripts_are_parsed_in_batches() -> None:
    read = read_scripts(
        [ScriptSource(str(number), f"use(process.env.A{number});", True) for number in range(150)]
    )
    assert [facts.env[0].name for facts in read.values() if isinstance(facts, HandlerFacts)] == [
        f"A{number}" for number in range(150)
    ]


def test_after_several_parser_crashes_the_other_scripts_are_skipped(grammars: Callable[[str], None]) -> None:
    grammars(FAKE)
    read = read_scripts([ScriptSource(f"CRASH {number}", f"// CRASH {number}", True) for number in range(6)])
    assert list(read.values()).count("the parser ended with exit code -6") == 4
    assert read["CRASH 5"] == "skipped: the parser failed too often before"


def test_without_the_parser_skipped_rules_are_named(grammars: Callable[[str], None]) -> None:
    grammars("raise ImportError('not installed')\n")
    assert read_scripts([ScriptSource("one", "x", True)]) == {"one": parser_missing_message()}
