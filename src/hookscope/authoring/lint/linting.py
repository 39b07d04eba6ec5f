"""Lints the hooks of a host, or of any folder under a host's rules: runs the rules, and reports."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import cleandoc
from itertools import islice
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, TypeAlias

from hookscope.app.snapshot import Snapshot
from hookscope.authoring.lint.header import ignored_in_header, ignored_in_source
from hookscope.authoring.lint.model import HostFacts, LintFinding, LintSubject, NotLinted, Rule, Severity
from hookscope.authoring.lint.rules import RULES
from hookscope.authoring.lint.subject_reader import read_pack, read_subject, read_subjects, with_handler_facts
from hookscope.engine.discovery import discover, discover_system
from hookscope.hosts.dialects import DEFAULT, DIALECTS
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import MANIFEST, PYTHON_HANDLERS
from hookscope.hosts.folders.search_paths import WORKSPACE, hooks_folder
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.source.script_parsing import read_scripts
from hookscope.hosts.streams.agent_layout import ROOT, SUBAGENTS
from hookscope.installation import shipped_hooks
from hookscope.model.failure import Refusal
from hookscope.model.hook import LANGUAGE_OF, FilePosition
from hookscope.model.hook_status import HookStatus, Inventory
from hookscope.model.host import Dialect, Host
from hookscope.model.machine import RealFiles, TrackedFiles
from hookscope.model.run import Result, Run
from hookscope.model.text import closest_match, did_you_mean, one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench

SECTION = re.compile(r"^(Bad|Good|Host|Folder):[ \t]*(.*)$", re.MULTILINE)

USUAL_MANIFEST = "HOOK.md as usual"  # in an example: a correct HOOK.md of the default dialect
RuleExample: TypeAlias = Mapping[str, str]  # the files of an example hook's folder: name → text


@dataclass(frozen=True, slots=True)
class RuleDocumentation:
    """The parts of a rule's documentation."""

    title: str
    why: str
    bad: RuleExample
    good: RuleExample
    host: str = ""  # the dialect of the example, if not the default one
    folder: str = "tidy"  # the name of the example's folder


def rule_documentation(text: str) -> RuleDocumentation:
    """Parse a rule's documentation. Raises ValueError if the rule's author left out an example."""
    text = cleandoc(text)
    marks = list(SECTION.finditer(text))
    parts: dict[str, str] = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        parts[mark[1]] = mark[2] + text[mark.end() : after.start() if after else len(text)]
    if not {"Bad", "Good"} <= parts.keys():
        raise ValueError("a rule's documentation needs an example under `Bad:` and one under `Good:`")
    title, _, why = text[: marks[0].start()].strip().partition("\n\n")
    return RuleDocumentation(
        " ".join(title.split()),
        why.strip(),
        _example(parts["Bad"]),
        _example(parts["Good"]),
        parts.get("Host", "").strip(),
        parts.get("Folder", "tidy").strip(),
    )


def _example(block: str) -> RuleExample:
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in dedent(block.strip("\n")).split("\n"):
        if line == USUAL_MANIFEST:
            lines = files[MANIFEST] = _usual_manifest()
        elif line and not line[0].isspace():
            lines = files.setdefault(line.strip(), [])
        else:
            lines.append(line)
    return {name: _text(lines) for name, lines in files.items()}


def _usual_manifest() -> list[str]:
    system = _folder_system(DEFAULT)
    assert system is not None
    return [
        "---",
        "name: tidy",
        f'metadata: {{{system.shape.namespace}: {{events: ["command:new"]}}}}',
        "---",
    ]


def _text(lines: list[str]) -> str:
    text = dedent("\n".join(lines)).strip("\n")
    return f"{text}\n" if text else ""


ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class LintReport:
    """The result of a lint. Findings are sorted by hook, severity, file and line."""

    subjects: tuple[LintSubject, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    not_run: tuple[NotLinted, ...] = ()

    @property
    def failed(self) -> bool:
        """True if there is an error. Warnings alone do not fail a lint."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Return the number of findings with this severity."""
        return sum(finding.severity is severity for finding in self.findings)


def run_rules(subjects: Iterable[LintSubject], only: Collection[str] = ()) -> LintReport:
    """Run every rule, or only the named ones, over every subject."""
    subjects = tuple(subjects)
    rules = [rule for rule in RULES.values() if not only or rule.id in only]
    findings = [finding for subject in subjects for finding in _run_rule(subject, rules)]
    return LintReport(subjects, tuple(findings), tuple(_rules_not_run(subjects, rules)))


def _run_rule(subject: LintSubject, rules: Iterable[Rule]) -> list[LintFinding]:
    ignored = ignored_in_header(subject.header)
    by_line = ignored_in_source(subject.text)
    found = [
        LintFinding(
            rule.id,
            message.severity,
            subject.name,
            message.place,
            message.text,
            message.next_step,
            message.fix,
            rule.docs,
        )
        for rule in rules
        if rule.id not in ignored
        and (not rule.reads_source or subject.facts is not None)
        and (not rule.only_folder_hooks or subject.kind == "folder")
        for message in rule.check(subject)
        if not (message.place.file == subject.handler and rule.id in by_line.get(message.place.line, ()))
    ]
    return sorted(found, key=lambda one: (ORDER.index(one.severity), str(one.place.file), one.place.line))


def _rules_not_run(subjects: Iterable[LintSubject], rules: Iterable[Rule]) -> Iterator[NotLinted]:
    """Yield the source rules that had no source to check, once per reason."""
    files: dict[str, list[FilePosition]] = {}
    for subject in subjects:
        if subject.facts is None and subject.handler is not None:
            files.setdefault(subject.unread_reason, []).append(FilePosition(subject.handler))
    for why, places in files.items():
        kinds = {LANGUAGE_OF.get(place.file.suffix, "script") for place in places}
        what = (
            str(places[0].file) if len(places) == 1 else f"{len(places)} {'/'.join(sorted(kinds))} handlers"
        )
        for rule in rules:
            if rule.reads_source:
                yield NotLinted(rule.id, f"{what}: {why}")


MOST_PARSED = 5  # handlers that are parsed while the user waits


def silent_handler_reasons(run: Run, view: Snapshot) -> list[str]:
    """Return a note for each lint error of handlers without visible effect. Blocks while parsing."""
    quiet = {result.call.hook for result in run.results if _is_silent(result)}
    rows = [row for row in view.inventory.hooks if row.hook in quiet and row.hook.kind == "folder"]
    if not rows:
        return []

    return [
        f"note: {one_line(row.hook.name)} ran without visible effect: "
        f"{one_line(finding.place.file.name)}:{finding.place.line}: {one_line(finding.text, 300)}"
        for row in rows[:MOST_PARSED]
        for finding in lint_one(row, view.host).findings
        if finding.severity is Severity.ERROR
    ]


def _is_silent(result: Result) -> bool:
    shown = result.messages or result.stdout or result.stderr or result.patch or result.error
    return not shown and result.returned is None and not result.notes


# besides names that begin with a dot
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})
DEEPEST = 8  # levels below a named folder
SECONDS = 3.0  # seconds to parse one hook's script while the user waits
MOST = 20_000  # folders searched in one call


@dataclass(frozen=True, slots=True)
class LintResult:
    """The report of a lint, and the host whose rules applied."""

    host: Host
    report: LintReport


def lint_hooks(bench: Workbench, paths: Sequence[Path] = (), rules: Collection[str] = ()) -> LintResult:
    """Lint the hooks below `paths`; without `paths`, the host's hooks except those shipped with Hookscope.

    A path that does not exist is looked up as the name of a hook. Reads and parses files, but imports and
    runs nothing. Raises Refusal for an unknown path or rule.
    """
    for rule in rules:
        rule_named(rule)
    host = bench.open()
    if not paths:  # shipped hooks are linted only when named
        ours = shipped_hooks()
        subjects_found = read_subjects(discover(host), host_facts(host), host.machine.files)
        found = tuple(subject for subject in subjects_found if not subject.folder.is_relative_to(ours))
    else:
        found = tuple(subject for path in paths for subject in _requested_hooks(host, path))
    unique = {(subject.folder, subject.name, subject.handler): subject for subject in found}
    read = partial(read_scripts, workspace=[host.workspace])
    subjects = with_handler_facts(unique.values(), read, host.machine.files)
    return LintResult(host, run_rules(subjects, rules))


def lint_one(row: HookStatus, host: Host) -> LintReport:
    """Lint one hook. Blocks while its script is parsed; may be called from any thread."""
    files = host.machine.files
    if isinstance(files, TrackedFiles):  # they belong to a scan in another thread
        files = RealFiles()
    subject = read_subject(row.hook, host_facts(host), files)
    read = partial(read_scripts, seconds=SECONDS, workspace=[host.workspace])
    return run_rules(with_handler_facts([subject], read, files))


def rule_named(name: str) -> tuple[Rule, RuleDocumentation]:
    """Return a rule and its documentation. Raises Refusal with the closest match."""
    if name not in RULES:
        next_step = did_you_mean(closest_match(name, RULES), "`hookscope lint --explain all` lists them.")
        raise Refusal(f"There is no rule {name!r}.", next_step, code=2)
    return RULES[name], rule_documentation(RULES[name].text)


def rule_titles() -> dict[str, str]:
    """Return every rule's id and title."""
    return {name: rule_documentation(rule.text).title for name, rule in RULES.items()}


def host_facts(host: Host) -> HostFacts:
    """Return the facts of a host that rules need."""
    dialect = host.dialect
    system = _folder_system(dialect)
    layout = dialect.layout
    variables = (
        layout.state_variable,
        layout.settings_variable,
        layout.workspace_variable,
        layout.home_variable,
        layout.profile_variable,
        layout.bundled_variable,
    )
    program = next(iter(dialect.later_events.values()), "")
    return HostFacts(
        dialect=dialect.name,
        product=dialect.product,
        catalogue=dialect.catalogue(),
        namespaces=(system.shape.namespace, *system.shape.older_namespaces) if system else (),
        handlers=system.shape.handlers if system else (),
        hookscope_handlers=PYTHON_HANDLERS,
        packages=layout.packages,
        variables=frozenset(filter(None, variables)),
        program=program,
        program_reads=_read_besides(program),
        later=dialect.later_events,
        later_plugin=dialect.later_plugin_events,
        loads_like_node=dialect.load_rules.plain,
    )


def _read_besides(program: str) -> tuple[str, ...]:
    """Return the older namespaces that a program reads. If any, it also accepts metadata as a string."""
    system = _folder_system(DIALECTS[program]) if program in DIALECTS else None
    return system.shape.older_namespaces if system is not None else ()


def _folder_system(dialect: Dialect) -> FolderSystem | None:
    return next((system for system in dialect.systems if isinstance(system, FolderSystem)), None)


# Named folders


def _requested_hooks(host: Host, named: Path) -> Iterable[LintSubject]:
    """Return the hooks at the path `named`, or else the hook with that name. Raises Refusal."""
    path = host.machine.absolute(named)
    if os.path.exists(path):
        return _plugin_hooks(host, path) or _hooks_below(host, path)
    inventory = discover(host)
    row = inventory.find(str(named))
    rejected = tuple(one for one in inventory.rejected if str(named) in (one.name, one.path.name))
    if row is None and rejected:
        return read_subjects(Inventory(rejected=rejected), host_facts(host), host.machine.files)
    if row is None:
        where, names = host.machine.short(path), [row.hook.name for row in inventory.hooks]
        next_step = did_you_mean(closest_match(str(named), names), "Name a hooks folder, or a hook.")
        raise Refusal(f"There is no {where}, and no hook of that name.", next_step, code=2)
    return [read_subject(row.hook, host_facts(host), host.machine.files)]


def _plugin_hooks(host: Host, path: Path) -> list[LintSubject]:
    """Return the hooks of a folder that is itself a plugin; none for any other folder."""
    shapes = (getattr(system, "shape", None) for system in host.dialect.systems if system.kind == "plugin")
    if not any(os.path.isfile(path / shape.manifest) for shape in shapes if shape is not None):
        return []
    project = open_host(host.dialect, host.machine, replace(host.overrides, workspace=path))
    facts, files = host_facts(project), project.machine.files
    hooks = (row.hook for row in discover(project).hooks)
    inside = (hook for hook in hooks if hook.path is not None and hook.path.is_relative_to(path))
    return [read_subject(hook, facts, files) for hook in inside]


def _hooks_below(host: Host, path: Path) -> Iterator[LintSubject]:
    """Yield the hooks, and rejected folders that look like hooks, in or below a folder, or beside a file."""
    system = _folder_system(host.dialect)
    facts = host_facts(host)
    if system is None:  # hosts without HOOK.md folders have projects
        workspace = _project_of(path)
        project = open_host(host.dialect, host.machine, replace(host.overrides, workspace=workspace))
        yield from read_subjects(_modules_below(discover(project), path), facts, project.machine.files)
        return
    target = path if os.path.isdir(path) else path.parent
    for folder in _collections(target, system.shape.candidates):
        host_of_folder = replace(host, folders=(hooks_folder(host, WORKSPACE, folder, 40),))
        inventory = _in_folder(discover_system(system, host_of_folder), target)
        yield from read_subjects(inventory, facts, host.machine.files)
    pack = read_pack(target, host, facts)
    if pack is not None:
        yield pack


def _project_of(path: Path) -> Path:
    """Return the project that an agent's file or folder belongs to; else the path itself."""
    agents = (one for one in (path, *path.parents) if one.name == ROOT and one.parent.name != SUBAGENTS)
    return next((agent.parent for agent in agents if os.path.isdir(agent)), path)


def _modules_below(inventory: Inventory, target: Path) -> Inventory:
    """Return the project's modules below a folder, or the named file."""
    hooks = (row for row in inventory.hooks if row.hook.handler and row.hook.handler.is_relative_to(target))
    rejected = (one for one in inventory.rejected if one.path.is_relative_to(target))
    return replace(inventory, hooks=tuple(hooks), rejected=tuple(rejected))


def _in_folder(inventory: Inventory, target: Path) -> Inventory:
    """Return the inventory with only the folder hooks and rejected folders in or below `target`."""
    return replace(
        inventory,
        hooks=tuple(
            row
            for row in inventory.hooks
            if row.hook.kind == "folder" and row.hook.path and row.hook.path.is_relative_to(target)
        ),
        rejected=tuple(one for one in inventory.rejected if one.path.is_relative_to(target)),
    )


def _collections(target: Path, handlers: Collection[str]) -> list[Path]:
    """Return the folders that contain hook folders, from the target down."""
    if _is_hook(_names_in(target), handlers):
        return [target.parent]
    found: dict[Path, None] = {}
    level, looked_at = [target], 0
    for _ in range(DEEPEST):
        below = []
        for folder in level:
            for child in islice(_folders_in(folder), MOST - looked_at):
                looked_at += 1
                if any(one.lower() == MANIFEST.lower() for one in _names_in(child)):
                    found[folder] = None
                elif not os.path.islink(child):
                    below.append(child)
        level = below
    return list(found) or [target]


def _folders_in(folder: Path) -> Iterator[Path]:
    """Yield the subfolders by name, without hidden ones and those that hold no hooks."""
    for name in sorted(_names_in(folder)):
        if not name.startswith(".") and name not in SKIPPED_FOLDERS and os.path.isdir(folder / name):
            yield folder / name


def _is_hook(names: Collection[str], handlers: Collection[str]) -> bool:
    lowered = {name.lower() for name in names}
    return MANIFEST.lower() in lowered or any(name in handlers for name in names)


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
