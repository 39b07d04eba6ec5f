"""Run `hookscope lint` or `hookscope test`, and print an annotation of the code host for each finding.

    WORKSPACE=. DIALECT=openclaw python annotate.py lint

Exits as the command does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEST_FOLDERS = (".hookscope/events", ".hookscope/sequences")
LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def annotation(level: str, title: str, text: str, file: str, line: int = 1, column: int = 1) -> str:
    """Return one workflow command, which the code host shows beside the line."""
    path = Path(file)
    name = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    members = {"file": name, "line": line, "col": column, "title": title}
    told = ",".join(f"{key}={_escaped(str(value), in_member=True)}" for key, value in members.items())
    return f"::{level} {told}::{_escaped(text)}"


def _escaped(text: str, *, in_member: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_member else text


def of_lint(document: dict[str, Any]) -> Iterator[str]:
    """Yield an annotation for each finding."""
    for found in document["findings"]:
        text = f"{found['hook']}: {found['text']} {found['then']}".rstrip()
        place = found["file"], found["line"], found["column"]
        yield annotation(LEVELS[found["severity"]], found["rule"], text, *place)


def of_tests(document: list[dict[str, Any]]) -> Iterator[str]:
    """Yield an annotation for each saved event that missed."""
    for result in document:
        if not result["passed"]:
            lines = [
                f"{one['what']}: expected {one['expected']}, got {one['got']}" for one in result["misses"]
            ]
            why = [result["problem"] or "", *result["could_not_run"], *lines]
            text = "\n".join(line for line in why if line) or "A step missed."
            yield annotation("error", f"saved event {Path(result['file']).stem}", text, result["file"])


def main(what: str) -> int:
    """Run the command, print its annotations and its text, and return its exit code."""
    workspace = os.environ.get("WORKSPACE") or "."
    if what == "test" and not any((Path(workspace) / folder).is_dir() for folder in TEST_FOLDERS):
        print("There are no saved events.")
        return 0
    program = [sys.executable, "-m", "hookscope", "--workspace", workspace]
    dialect = os.environ.get("DIALECT")
    own = ["--trust"] if what == "test" else []
    command = [*program, *(["--dialect", dialect] if dialect else []), what, *own, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        print(done.stdout)
        return done.returncode or 1
    if isinstance(document, dict) and "error" in document:
        print(f"::error title=hookscope {what}::{_escaped(str(document['error']))}")
        return done.returncode or 1
    for line in of_lint(document) if what == "lint" else of_tests(document):
        print(line)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
