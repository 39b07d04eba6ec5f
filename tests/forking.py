"""The program as a script sees it, without what starting Python costs each time.

One process imports the command line once and forks for every call: the fork is a process of its own with its
own exit code, streams, folder and environment, as `python -m hookscope` has them. Run as a program, this file
is that process; each line that it reads is a call.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READ_AT_THE_START = ("PYTHON", "LANG", "LC_")  # variables that a process reads before its first line runs
STRICT = {"PYTHONWARNINGS": "error"}
ROOMS = (  # that a command may come to need; of the console, what lists its keys
    *("cli.commands", "app", "app.runs", "authoring.testing", "recording", "runtime", "storage"),
    *("storage.journal", "authoring.lint", "packs", "formats", "console.keymap"),
)


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    code: int
    out: str
    err: str


class Forks:
    """Calls of the command line, each in a fork."""

    def __init__(self) -> None:
        self._mother: subprocess.Popen[str] | None = None

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        text: str = "",
        limit: int = 120,
        terminal: str = "",
    ) -> Ended:
        """What `hookscope ARGUMENTS` does. Raises TimeoutExpired after `limit` seconds.

        With a `terminal`, the file of one, it writes there what it would write to its output.
        """
        if any(name.startswith(READ_AT_THE_START) and os.environ.get(name) != env[name] for name in env):
            return _started(arguments, cwd, {**STRICT, **env}, text, limit)
        with tempfile.TemporaryDirectory() as folder:
            for name, said in (("in", text), ("out", ""), ("err", "")):
                Path(folder, name).write_text(said)
            if terminal:
                Path(folder, "out").unlink()
                Path(folder, "out").symlink_to(terminal)
            call = {
                "arguments": [*arguments],
                "cwd": str(cwd),
                "env": {**STRICT, **env},
                "streams": folder,
                "limit": limit,
            }
            code = self._asked(call)
            if code is None:
                raise subprocess.TimeoutExpired(["hookscope", *arguments], limit)
            out, err = (
                "" if Path(folder, name).is_symlink() else Path(folder, name).read_bytes().decode()
                for name in ("out", "err")
            )
            return Ended(code, out, err)

    def close(self) -> None:
        """End the process that forks."""
        if self._mother is not None:
            self._mother.communicate()

    def _asked(self, call: Mapping[str, Any]) -> int | None:
        if self._mother is None:
            self._mother = subprocess.Popen(
                [sys.executable, "-W", "error", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write(json.dumps(call) + "\n")
        self._mother.stdin.flush()
        code: int | None = json.loads(self._mother.stdout.readline())
        return code


def _started(arguments: Sequence[str], cwd: Path, env: Mapping[str, str], text: str, limit: int) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "hookscope", *arguments],
        capture_output=True,
        text=True,
        input=text,
        cwd=cwd,
        env=env,
        timeout=limit,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _import_all() -> None:
    """Everything that a command may come to need, asyncio and sqlite3 among it."""
    for room in ROOMS:
        package = importlib.import_module(f"hookscope.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg:
                importlib.import_module(f"hookscope.{room}.{module.name}")


def _warm_up() -> None:
    """Ask once about nothing: classes are compiled and catalogues read when they are first needed."""
    cli = importlib.import_module("hookscope.cli.main")
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as nowhere, redirect_stdout(said), redirect_stderr(said):
        for host in ("openclaw", "openclaw@2026.9", "eve"):
            for command in (["list", "--json"], ["plan", "command:new"], ["lint"], ["events"]):
                cli.exit_code(["--dialect", host, "--home", nowhere, "--workspace", nowhere, *command])


def _serve() -> None:
    """Fork for each line, and say how the fork ended: its exit code, less than 0 for a signal."""
    answers = os.dup(1)
    while line := os.read(0, 1):
        while not line.endswith(b"\n"):
            line += os.read(0, 65536)  # one call at a time: nothing follows it
        call = json.loads(line)
        child = os.fork()
        if not child:
            os.close(answers)
            _become(call)
            return
        os.write(answers, f"{json.dumps(_end_of(child, call['limit']))}\n".encode())
    os._exit(0)


def _end_of(child: int, limit: int) -> int | None:
    """Its exit code; None where it took too long."""
    late = False

    def too_late(number: int, frame: object) -> None:
        nonlocal late
        late = True
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(limit)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    return None if late else os.waitstatus_to_exitcode(status)


def _become(call: Mapping[str, Any]) -> None:
    """Make this fork the process that was asked for."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for number, name in enumerate(("in", "out", "err")):
        stream = os.open(
            os.path.join(call["streams"], name),
            os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND | os.O_NOCTTY,
        )
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(call["env"])
    os.chdir(call["cwd"])
    sys.argv = ["hookscope", *call["arguments"]]


def _leave(code: int) -> None:
    """End as a program does, last words included, but leave the memory to the system.

    Taking down what the mother has imported touches all of it: that costs more than most calls.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what was left open says so
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _import_all()
    _warm_up()
    gc.freeze()  # else each fork copies what it only looks at
    _serve()
    exit_code = importlib.import_module("hookscope.cli.startup").exit_code
    try:
        sys.exit(exit_code(sys.argv[1:]))
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise
