"""Standard streams that are closed, full or of a small character set: never a traceback."""

import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from hookscope.cli.main import exit_code_of
from hookscope.cli.startup import use_ascii_fallbacks


def run(*arguments: str, redirected: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """The program in a shell, with redirections behind its arguments."""
    program = [sys.executable, "-m", "hookscope", *arguments]
    line = f'"$@" {redirected}'
    return subprocess.run(
        ["bash", "-c", line, "bash", *program],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        encoding="latin-1",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("latin-1", "+ -> * ... \xe9 \\u0161 -"),
        ("ascii", "+ -> * ... \\xe9 \\u0161 -"),
        ("cp1252", "+ -> * \x85 \xe9 \x9a \x96"),
        ("koi8-r", "+ -> * ... \\xe9 \\u0161 -"),
        ("utf-8", "✓ → ● … é š –".encode().decode("latin-1")),
    ],
)
def test_characters_missing_in_the_encoding_are_replaced(encoding: str, shown: str) -> None:
    written = BytesIO()
    stream = TextIOWrapper(written, encoding=encoding)
    use_ascii_fallbacks(stream, None)
    stream.write("✓ → ● … é š –")
    stream.flush()
    assert written.getvalue().decode("latin-1") == shown


def test_surrogates_are_printed_as_escapes() -> None:
    written = BytesIO()
    stream = TextIOWrapper(written, encoding="utf-8")
    use_ascii_fallbacks(stream)
    stream.write("a\udcffb")
    stream.flush()
    assert written.getvalue() == b"a\\udcffb"


def test_a_chosen_error_handler_is_kept() -> None:
    written = BytesIO()
    stream = TextIOWrapper(written, encoding="ascii", errors="replace")
    use_ascii_fallbacks(stream)
    stream.write("✓")
    stream.flush()
    assert written.getvalue() == b"?"


def test_output_works_in_latin_1(workspace: Path) -> None:
    done = run("list", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\xb7 workspace" in done.stdout
    assert "* ready" in done.stdout


@pytest.mark.parametrize("arguments", [("list",), ("info", "nobody", "--json"), ("nobody", "--json")])
def test_a_full_output_is_reported_in_one_sentence(workspace: Path, arguments: tuple[str, ...]) -> None:
    full = run(*arguments, redirected=">/dev/full")
    assert full.returncode == 1
    assert full.stderr == "hookscope: the answer could not be printed: no space is left on the device.\n"
    gone = run(*arguments, redirected="| head -c 0; exit ${PIPESTATUS[0]}")
    assert (gone.returncode in (1, 2), "Traceback" in gone.stderr, "Exception" in gone.stderr) == (
        True,
        False,
        False,
    )
    for closed in (">&-", "2>&-", "<&-", "2>/dev/full", "<&- >&- 2>&-"):
        done = run(*arguments, redirected=closed)
        assert done.returncode in (0, 1, 2)
        assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("raised", [RuntimeError("x"), OSError(5, "x"), MemoryError(), RecursionError()])
def test_a_crash_never_exits_with_0(raised: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def crash() -> object:
        raise raised

    assert exit_code_of(crash, []) == 1
    assert "this is a bug in Hookscope, please report it" in capsys.readouterr().err
