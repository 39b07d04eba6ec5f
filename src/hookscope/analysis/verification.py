"""Compares Hookscope's answer about each hook with the answer of the installed host's own program."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from hookscope.analysis.program_copy import HostCopy
from hookscope.analysis.verification_result import (
    GeneralDifference,
    Verification,
    compare_items,
    differing_names,
)
from hookscope.app.host_detection import InstalledVersion, installed_version
from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.helpers import find_program
from hookscope.hosts.plugins import settings_refusal
from hookscope.hosts.settings.host_opener import settings_file
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.program_report import PLUGINS, Answers, ProgramReport
from hookscope.model.text import error_reason
from hookscope.runtime.executors import Node
from hookscope.values import dataclass

SECONDS = 180.0  # for one call of the program: a cold start on a busy machine takes half a minute
MOST_INFO = 8  # hooks for which `info` runs, unless all are requested
SCRIPTS = (".js", ".mjs", ".cjs")
LAST_LINES = 4  # of a failing program's output


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """The program to start, and the version that its package states."""

    command: tuple[str, ...]
    path: Path
    version: str


class Verifier:
    """One verification: `question` names the program, `run` starts it. Creating a Verifier starts nothing.

    Raises Refusal if the host cannot be verified. `seconds`: the limit of one call of the program.
    """

    def __init__(
        self,
        options: Options,
        open_bench: Callable[[Options], Workbench] = Workbench,
        *,
        seconds: float = SECONDS,
    ) -> None:
        self.seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None  # the program, while it runs
        self._stopped = False
        shown = open_bench(options)
        self.notes: tuple[str, ...] = ()
        dialect = shown.dialect
        if options.os is not None:
            raise Refusal("The host's program runs only on this machine's platform.", "Remove --os.", code=2)
        if dialect.program_report is None and shown.setup.shipped is not None:
            self.notes = (
                f"The dialect is {dialect.name}; the rules of {shown.setup.shipped.name} are compared.",
            )
            dialect = shown.setup.shipped
        if dialect.program_report is None:
            raise Refusal(
                f"{dialect.product} has no command that lists its hooks, so there is nothing to compare.",
                "`hookscope list` shows what Hookscope finds.",
            )
        self.report: ProgramReport = dialect.program_report
        own = replace(options, dialect=dialect.name, as_host=True, workspace=shown.setup.overrides.workspace)
        self.bench = Workbench(own)  # the notes are printed once
        self.host = self.bench.open()
        settings = settings_file(self.host.dialect, self.host.machine, self.host.overrides)
        installed = installed_version(dialect, self.host.machine, settings, self.host.workspace)
        self.program = (
            _module_program(self.host, self.report, installed)
            if self.report.module
            else _command_program(self.host, installed)
        )

    @property
    def question(self) -> str:
        """The question whether to start the host's own program, and on which files."""
        short = self.host.machine.short
        product, version = self.host.dialect.product, self.program.version
        return (
            f"Start {product} {version} ({short(self.program.path)}) on a copy of its settings, hooks and "
            f"workspace? It may load plugins."
        )

    def stop(self) -> None:
        """End the program, from another thread; `run` then raises Refusal."""
        self._stopped = True
        if self._child is not None and self._child.poll() is None:
            end_program(self._child)

    def program_started(self, child: subprocess.Popen[bytes]) -> None:
        """Note the running program, so that `stop` can end it."""
        self._child = child
        if self._stopped:
            end_program(child)

    def refuse_if_stopped(self) -> None:
        """Raise Refusal if the verification was stopped."""
        if self._stopped:
            raise Refusal("The verification was stopped.")

    def run(self, *, each: bool = False) -> Verification:
        """Run the program and compare; `each`: also `info` per hook. Raises Refusal without an answer."""
        view = self.bench.scan()
        try:
            copy = HostCopy(view.host, self.report, self.bench.redaction_of(view.host))
        except OSError as error:
            raise Refusal(f"The copy cannot be made: {error_reason(error)}.", "Free disk space.") from None
        with copy:
            return self._compared(view, copy, each)

    def _compared(self, view: Snapshot, copy: HostCopy, each: bool) -> Verification:
        calls = _ProgramCalls(self, view.host, copy)
        theirs, refusal = calls.first_answers()
        result = Verification(
            product=view.host.dialect.product,
            version=self.program.version,
            dialect=view.host.dialect.name,
            program=str(self.program.path),
            workspace=str(view.host.workspace),
            isolated=copy.is_isolated,
            notes=(*self.notes, *copy.notes),
        )
        ours_refused = settings_refusal(view.host, of_command=True)
        if refusal or ours_refused:
            differing = _settings_difference(ours_refused, refusal)
            return replace(result, host=differing, both_refuse=not differing)
        ours = self.report.own_answers(view.host, view.inventory, ())
        names = self._names_for_info(ours, theirs, view, each)
        if names:
            ours = self.report.own_answers(view.host, view.inventory, names)
            theirs = {**theirs, **calls.info_answers(names)}
        missing = _not_copied(view, copy)
        differences, agreed, skipped = compare_items(
            self.report.items(ours), self.report.items(theirs), missing
        )
        return replace(
            result,
            compared=agreed + len(differences),
            agreed=agreed,
            differences=differences,
            not_compared=skipped,
            host=_workspace_difference(ours, theirs),
        )

    def _names_for_info(self, ours: Answers, theirs: Answers, view: Snapshot, each: bool) -> list[str]:
        """Return the hooks to call `info` for: those that differ or have copies; with `each`, all."""
        if not self.report.info_command:
            return []
        mine, other = self.report.items(ours), self.report.items(theirs)
        both = {item.name for item in mine} & {item.name for item in other}
        counts = Counter(row.hook.name for row in view.inventory.hooks)
        copies = [name for name, number in counts.items() if number > 1]
        wanted = [item.name for item in other] if each else [*differing_names(mine, other), *copies]
        plugins = {item.name for item in other if item.is_plugin}
        names = [
            name
            for name in dict.fromkeys(wanted)
            if name not in plugins and name in both and not name.startswith("-")
        ]
        return names if each else names[:MOST_INFO]


@dataclass(frozen=True, slots=True)
class _ProgramCalls:
    """Calls the host's program on one copy."""

    verifier: Verifier
    host: Host
    copy: HostCopy

    def first_answers(self) -> tuple[Answers, str]:
        """Return the answers about all hooks; else the program's refusal of its settings."""
        report = self.verifier.report
        if report.module:
            if not os.path.isdir(self.copy.workspace / report.workspace_entries[0]):
                return {"discovery": {}}, ""  # the function does not start without the agent's folder
            words = (report.function, str(self.copy.workspace))
            return {"discovery": self._document(self._run(words), "discovery")}, ""
        answers: dict[str, Any] = {}
        for name, arguments in report.commands.items():
            output = self._run((*arguments, *(self._agent() if name != PLUGINS else ())))
            if refusal := _refusal_in(output, self.host):
                return {}, self.copy.original_of(refusal)
            answers[name] = self._document(output, name)
        return answers, ""

    def info_answers(self, names: Iterable[str]) -> Answers:
        """Return the `info` of these hooks, without those for which the program prints no JSON."""
        found = {}
        for name in names:
            arguments = [word.replace("{name}", name) for word in self.verifier.report.info_command]
            output = self._run((*arguments, *self._agent()))
            document = _json_in(self.copy.original_of(output.stdout))
            if document is not None:
                found[f"info {name}"] = document
        return found

    def _agent(self) -> tuple[str, ...]:
        flag, agent = self.verifier.report.agent_flag, self.host.overrides.agent
        return (flag, agent) if flag and agent else ()

    def _run(self, arguments: Sequence[str]) -> ProgramOutput:
        verifier = self.verifier
        words = [*verifier.program.command, *arguments]
        verifier.refuse_if_stopped()
        try:
            output = run_host_program(
                self.copy.command(words),
                cwd=self.copy.cwd,
                env=self.copy.environment(),
                seconds=verifier.seconds,
                sandbox_filter=self.copy.sandbox_filter,
                started=verifier.program_started,
            )
        except OSError as error:
            raise Refusal(f"{words[0]} cannot be started: {error_reason(error)}.") from None
        verifier.refuse_if_stopped()
        return output

    def _document(self, output: ProgramOutput, name: str) -> Any:
        """Return the JSON of an answer. Raises Refusal if there is none."""
        product = self.host.dialect.product
        if output.code is None:
            raise Refusal(
                f"{product} did not answer within {self.verifier.seconds:g} s.",
                "Try again when the machine is idle.",
            )
        document = _json_in(self.copy.original_of(output.stdout))
        if document is None:
            redaction = self.verifier.bench.redaction_of(self.host)
            text = redaction.masked_text(self.copy.original_of(output.stderr or output.stdout))
            last = _shown_output(text.strip().splitlines())
            raise Refusal(
                f"{product} printed no JSON for {name!r} (exit code {output.code}): {last}",
                f"Run {self.verifier.program.path.name} yourself to see why.",
            )
        return document


def _shown_output(lines: Sequence[str]) -> str:
    """Return the last lines of an output, and before them the first line that names an error."""
    shown = list(lines[-LAST_LINES:])
    error = next((line for line in lines if re.match(r"\s*\w*Error\b", line)), None)
    if error is not None and error not in shown:
        shown.insert(0, error.strip())
    return " / ".join(shown) or "nothing"


def _json_in(text: str) -> Any:
    """Return the JSON document of an output that may have log lines before it; None if there is none."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at] == "{":
            try:
                return decoder.raw_decode(text, at)[0]
            except (ValueError, RecursionError):
                pass
        after = text.find("\n", at)
        if after < 0:
            return None
        at = after + 1
    return None


def _refusal_in(output: ProgramOutput, host: Host) -> str:
    """Return the program's refusal of its settings, found by the opening words in the dialect."""
    text = f"{output.stderr}\n{output.stdout}"
    starts = [text.find(words) for words in host.dialect.settings_rules.refusal_starts]
    if output.code == 0 or max(starts, default=-1) < 0:
        return ""
    return " ".join(text[min(at for at in starts if at >= 0) :].split("\n\n")[0].split())


def _settings_difference(ours: str, theirs: str) -> tuple[GeneralDifference, ...]:
    if bool(ours) == bool(theirs):
        return ()
    meaning = (
        "The program does not start with these settings, although Hookscope accepts them."
        if theirs
        else "The program accepts these settings, although Hookscope expects it to reject them."
    )
    return (GeneralDifference("settings", ours or "accepted", theirs or "accepted", meaning),)


def _workspace_difference(ours: Answers, theirs: Answers) -> tuple[GeneralDifference, ...]:
    mine, other = (
        answers["list"].get("workspaceDir") if isinstance(answers.get("list"), Mapping) else None
        for answers in (ours, theirs)
    )
    if mine is None or other is None or os.path.realpath(mine) == os.path.realpath(other):
        return ()
    meaning = "The program looks for workspace hooks in another folder than Hookscope."
    return (GeneralDifference("workspace", str(mine), str(other), meaning),)


def _not_copied(view: Snapshot, copy: HostCopy) -> frozenset[str]:
    files = (
        (row.hook.name, path)
        for row in view.inventory.hooks
        for path in (row.hook.manifest, row.hook.handler)
        if path is not None
    )
    return frozenset(name for name, path in files if not copy.has(path))


def _command_program(host: Host, installed: InstalledVersion | None) -> InstalledProgram:
    name, workspace = host.dialect.layout.program, [host.workspace, host.machine.cwd]
    program = find_program(name, workspace)
    if program is None:
        raise Refusal(
            f"There is no program {name!r} on PATH outside the workspace.",
            f"Install {host.dialect.product}, or add its folder to PATH.",
        )
    version = installed.version if installed is not None else "of unknown version"
    real = os.path.realpath(program)
    node = find_program("node", workspace)
    command = (node, real) if node is not None and real.endswith(SCRIPTS) else (program,)
    return InstalledProgram(command, Path(program), version)


def _module_program(
    host: Host, report: ProgramReport, installed: InstalledVersion | None
) -> InstalledProgram:
    package = installed.package if installed is not None else None
    if installed is None or package is None or not os.path.isfile(package / report.module):
        raise Refusal(
            f"{host.dialect.product} is not installed for this project, or has no {report.module}.",
            "Install the project's packages first.",
        )
    return InstalledProgram((str(FIND_HOOKS), str(package / report.module)), package, installed.version)


def with_node(verifier: Verifier) -> Verifier:
    """Let Node run the program if it is a module. Runs Node to check its version; raises Refusal."""
    if verifier.report.module:
        node = verifier.bench.worker_pools.node(verifier.host)
        if not isinstance(node, Node):
            raise Refusal(f"There is no Node to run it: {node.reason}.", node.next_step)
        program = verifier.program
        verifier.program = replace(program, command=(node.path, *program.command))
    return verifier


MOST_OUTPUT = 16 * 1024 * 1024  # bytes of each stream that are read
FIND_HOOKS = Path(__file__).with_name("find_hooks.mjs")


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """How a program ended; the code is None if it ran too long and was ended."""

    code: int | None
    stdout: str
    stderr: str


def run_host_program(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    sandbox_filter: bytes,
    started: Callable[[subprocess.Popen[bytes]], object],
) -> ProgramOutput:
    """Run a command without a terminal, then end it and everything that it has started.

    `sandbox_filter`: for `bwrap --seccomp`, if the command starts with bwrap. `started` gets the process,
    which another thread may end by `end_program`. Raises OSError if it cannot be started.
    """
    with TemporaryFile() as out, TemporaryFile() as err, TemporaryFile() as filter_file:
        words, descriptors = list(command), []
        if sandbox_filter:
            filter_file.write(sandbox_filter)
            filter_file.seek(0)
            words[1:1] = ["--seccomp", str(filter_file.fileno())]
            descriptors.append(filter_file.fileno())
        child = subprocess.Popen(
            words,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            pass_fds=descriptors,
        )
        code: int | None = None
        try:
            started(child)
            with suppress(subprocess.TimeoutExpired):
                code = child.wait(seconds)
        finally:
            end_program(child)
            child.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(MOST_OUTPUT).decode("utf-8", "replace"))
        return ProgramOutput(code, *texts)


def end_program(child: subprocess.Popen[bytes]) -> None:
    """End a program with everything in its process group."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
