"""The hooks of a project: the modules of each agent, what is skipped, and what stops the build."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from pathlib import Path

from hookscope.formats.script_values import LONGEST_SCRIPT
from hookscope.hosts.folders.search_paths import hooks_folder
from hookscope.hosts.gates.handler import HANDLER
from hookscope.hosts.gates.rules import rules_of
from hookscope.hosts.gates.sent import SENT
from hookscope.hosts.gates.trusted import TRUSTED
from hookscope.hosts.streams.agent_layout import (
    DYNAMIC_FOLDERS,
    Agent,
    Discovery,
    OtherListener,
    agents_of,
    discover_agent,
    ordered_diagnostics,
)
from hookscope.hosts.streams.extensions import Extension, extensions_of
from hookscope.hosts.streams.module_folders import (
    ERROR,
    HOOKS_SLOT,
    Diagnostic,
    FileRules,
    FoundModule,
    SkippedFile,
    modules_in,
)
from hookscope.model.hook import LANGUAGE_OF, FilePosition, Folder, Hook, Metadata, Problem
from hookscope.model.hook_status import (
    FixKind,
    FoundHooks,
    Gate,
    GateKind,
    RejectedHook,
    State,
    register_gate,
)
from hookscope.model.host import Host
from hookscope.model.machine import Files
from hookscope.model.text import error_reason
from hookscope.values import dataclass

BUILD_PASSED = Gate("build", True, found="no errors")


def build_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host builds the project: one error anywhere stops the build (eve 23)."""
    if hook.build is None:
        return BUILD_PASSED
    reason = f"{host.dialect.product} cannot build the project: {hook.build.text}"
    wanted = (str(hook.build.missing_file),) if hook.build.missing_file is not None else ()
    return Gate(
        "build", False, ("no errors",), wanted, found="an error", reason=reason, place=hook.build.place
    )


BUILD = register_gate(
    GateKind(
        "build",
        state=State.BROKEN,
        check=build_gate,
        fix=FixKind.BY_HAND_BUILD,
        why_no_fix="the host cannot build the project until you correct this by hand",
    )
)


def handler_gate(hook: Hook, host: Host) -> Gate:
    """Pass, showing the name of the module: its handlers are known only after a load."""
    return Gate("handler", True, found=hook.handler.name if hook.handler else "")


def scope_gate(hook: Hook, host: Host) -> Gate:
    """Return a gate that always passes and shows the agent whose stream the hook receives."""
    return Gate("scope", True, found=hook.scope or "the root agent")


SCOPE = register_gate(GateKind("scope", check=scope_gate))
STREAM_GATES = rules_of(BUILD, (HANDLER, handler_gate), TRUSTED, SENT, SCOPE)


def stream_gates_of(hook: Hook, host: Host) -> tuple[Gate, ...]:
    """Return every gate of a hook, in display order."""
    return tuple(rule(hook, host) for rule in STREAM_GATES.values())


PACKAGE = "package.json"
LARGEST = 1_048_576  # bytes of a package.json that are read
NO_JSON = "The package.json at {file} is not valid JSON."
NO_PROJECT = "No {package} project contains {folder}: {file} names no {package} among its dependencies."


def project_diagnostic(workspace: Path, package: str, files: Files) -> Diagnostic | None:
    """Return why the folder is not a project that depends on `package`; None if it is.

    Without any package.json the host's commands do not start either. That is not reported: such a
    folder is not a project yet.
    """
    for folder in (workspace, *workspace.parents):
        file = folder / PACKAGE
        facts = files.facts(file)
        if facts is None or not facts.file:
            continue
        try:
            package_data = json.loads(files.read(file, LARGEST))
        except (OSError, ValueError, RecursionError):
            return Diagnostic("", NO_JSON.format(file=file), file)
        dependencies = package_data.get("dependencies") if isinstance(package_data, dict) else None
        if isinstance(dependencies, dict) and isinstance(dependencies.get(package), str):
            return None
        return Diagnostic("", NO_PROJECT.format(package=package, folder=workspace, file=file), file)
    return None


AGENT, SUBAGENT = "agent", "subagent"
# Read if they exist, because their modules may receive events.
OTHER_MODULE_FOLDERS = ("channels", *DYNAMIC_FOLDERS, "connections")


def project_folders(host: Host, rules: FileRules) -> tuple[Folder, ...]:
    """Return the hooks folder of each agent, which need not exist, and the existing folders beside it."""
    files, paths = host.machine.files, []
    for agent in agents_of(host.workspace, rules, files):
        paths.append((agent, agent.root / HOOKS_SLOT.folder))
        for extension in _extensions(agent, rules, files):
            paths.append((agent, extension.root / HOOKS_SLOT.folder))
        for name in OTHER_MODULE_FOLDERS:
            facts = files.facts(agent.root / name)
            if facts is not None and facts.folder and not facts.linked:
                paths.append((agent, agent.root / name))
    return tuple(
        _folder(host, agent, path, rank=len(paths) - place) for place, (agent, path) in enumerate(paths)
    )


def _folder(host: Host, agent: Agent, path: Path, rank: int) -> Folder:
    source = SUBAGENT if agent.scope else AGENT
    label = "/".join(filter(None, (agent.label, path.name)))
    return replace(
        hooks_folder(host, source, path, rank, label=label), incidental=path.name != HOOKS_SLOT.folder
    )


@dataclass(slots=True)
class _ProjectScan:
    """One scan of a project. Lives as long as the scan."""

    folders: dict[Path, Folder]
    files: Files
    marks_python: bool
    build_problem: Problem | None = None
    build_threw: bool = False  # whether the host threw the problem, and so reports nothing else
    hooks: list[Hook] = field(default_factory=list)
    rejected: list[RejectedHook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def find_stream_hooks(host: Host, rules: FileRules, *, marks_python: bool) -> FoundHooks:
    """Return all hooks, channels and dynamic resolvers of a project, by agent, in the host's order.

    A build error applies to every hook, because the host then builds none of them (eve 23).
    """
    folders = {folder.path: folder for folder in host.folders}
    scan = _ProjectScan(folders, host.machine.files, marks_python)
    _check_project(host, rules, scan)
    discoveries = list(_discoveries(host, rules, scan))
    for agent, diagnostic in ordered_diagnostics(discoveries):
        problem = Problem(
            _with_agent(diagnostic.text, agent),
            FilePosition(diagnostic.path),
            missing_file=diagnostic.missing_file,
        )
        scan.problems.append(problem)
        if diagnostic.severity == ERROR and (
            scan.build_problem is None or (not diagnostic.code and not scan.build_threw)
        ):
            scan.build_problem, scan.build_threw = problem, not diagnostic.code
    for discovery in discoveries:
        _take_discovery(discovery, scan)
        scan.hooks += list(_extension_hooks(discovery, rules, scan))
    return FoundHooks(tuple(scan.hooks), tuple(scan.rejected), tuple(scan.problems))


def _check_project(host: Host, rules: FileRules, scan: _ProjectScan) -> None:
    """Record a build problem if the workspace is not a project of the host."""
    package = rules.layout.required_package if rules.layout is not None else ""
    diagnostic = project_diagnostic(host.workspace, package, scan.files) if package else None
    if diagnostic is not None:
        scan.build_problem, scan.build_threw = Problem(diagnostic.text, FilePosition(diagnostic.path)), True
        scan.problems.append(scan.build_problem)


def _with_agent(text: str, agent: Agent) -> str:
    """Return the host's message with the agent's label, unless the message contains it."""
    return text if agent.label in text else f"{text.removesuffix('.')} ({agent.label})."


def _discoveries(host: Host, rules: FileRules, scan: _ProjectScan) -> Iterator[Discovery]:
    for agent in agents_of(host.workspace, rules, host.machine.files):
        try:
            yield discover_agent(agent, rules, host.machine.files)
        except OSError as error:
            reason = error_reason(error)
            problem = Problem(f"cannot read {error.filename or agent.root}: {reason}")
            scan.problems.append(problem)
            if rules.layout is not None and scan.build_problem is None:
                scan.build_problem = problem


def _take_discovery(discovery: Discovery, scan: _ProjectScan) -> None:
    agent = discovery.agent
    folder = scan.folders.get(agent.root / HOOKS_SLOT.folder)
    if folder is None:  # created during the scan; the next scan finds it
        return
    scan.hooks += [_hook(source.slug, source, folder, discovery, scan) for source in discovery.hooks.found]
    scan.rejected += _rejected(discovery.hooks.skipped, folder)
    scan.hooks += list(_listener_hooks(discovery, scan))


def _extensions(agent: Agent, rules: FileRules, files: Files) -> tuple[Extension, ...]:
    return () if agent.scope else extensions_of(agent.root, agent.workspace, rules, files)


def _extension_hooks(discovery: Discovery, rules: FileRules, scan: _ProjectScan) -> Iterator[Hook]:
    """Yield the hooks of mounted packages, after the agent's own, prefixed with the name of the mount."""
    for extension in _extensions(discovery.agent, rules, scan.files):
        folder = scan.folders.get(extension.root / HOOKS_SLOT.folder)
        if folder is None:
            continue
        for source in modules_in(extension.root, HOOKS_SLOT, rules, scan.files).found:
            hook = _hook(f"{extension.name}__{source.slug}", source, folder, discovery, scan)
            yield replace(hook, root=extension.package, beside=())


def _listener_hooks(discovery: Discovery, scan: _ProjectScan) -> Iterator[Hook]:
    for listener in discovery.listeners:
        folder = scan.folders.get(discovery.agent.root / listener.folder)
        if folder is not None:
            yield _hook(
                f"{listener.folder}/{listener.module.slug}",
                listener.module,
                folder,
                discovery,
                scan,
                listener,
            )


def _hook(
    name: str,
    source: FoundModule,
    folder: Folder,
    discovery: Discovery,
    scan: _ProjectScan,
    listener: OtherListener | None = None,
) -> Hook:
    return Hook(
        name=name,
        kind="stream",
        folder=folder,
        path=source.path,
        meta=Metadata(events=_subscribed_events(source.path, scan.files)),
        handler=source.path,
        language=LANGUAGE_OF[source.path.suffix],
        real=folder.real,
        beyond_host=source.beyond_host and scan.marks_python,
        root=discovery.agent.root,
        scope=discovery.agent.scope,
        role=listener.role if listener is not None else "",
        beside=discovery.siblings,
        build=scan.build_problem,
    )


def _subscribed_events(path: Path, files: Files) -> tuple[str, ...] | None:
    """Return the events that the source subscribes to; None if they are known only after a load."""
    from hookscope.formats.subscriptions import stream_events  # most hosts have no streams

    try:
        return stream_events(files.read(path, LONGEST_SCRIPT + 1), LANGUAGE_OF[path.suffix])
    except OSError:
        return None


def _rejected(skipped: Iterable[SkippedFile], folder: Folder) -> Iterator[RejectedHook]:
    for item in skipped:
        place = None if item.ignored else FilePosition(item.path)
        yield RejectedHook(item.path, folder.source, item.reason, place, item.slug, item.ignored)
