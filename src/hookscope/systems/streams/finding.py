"""From a project's folders to its hooks: what every agent has, what was passed over, what stops the build."""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from pathlib import Path

from hookscope import formats
from hookscope.core.dialect import Host
from hookscope.core.hooks import LANGUAGE_OF, Folder, Hook, Metadata, Place, Problem
from hookscope.core.inventory import Found, Rejected
from hookscope.core.surroundings import Files
from hookscope.core.text import why_of
from hookscope.systems.folders.places import hooks_folder
from hookscope.systems.streams.agents import (
    DYNAMIC,
    Agent,
    Discovery,
    Listener,
    agents_of,
    discover,
    in_order,
)
from hookscope.systems.streams.mounts import Extension, extensions_of
from hookscope.systems.streams.project import said_of_project
from hookscope.systems.streams.slots import HOOKS
from hookscope.systems.streams.sources import ERROR, FileRules, Passed, TakenModule, sources_in
from hookscope.values import dataclass

AGENT, SUBAGENT = "agent", "subagent"
BESIDE = (
    "channels",
    *DYNAMIC,
    "connections",
)  # looked at where they are, for what hooks have to do with them


def project_folders(host: Host, rules: FileRules) -> tuple[Folder, ...]:
    """The hooks folder of every agent, which need not exist, and the folders beside it that do."""
    files, paths = host.surroundings.files, []
    for agent in agents_of(host.workspace, rules, files):
        paths.append((agent, agent.root / HOOKS.folder))
        for extension in _extensions(agent, rules, files):
            paths.append((agent, extension.root / HOOKS.folder))
        for name in BESIDE:
            facts = files.facts(agent.root / name)
            if facts is not None and facts.folder and not facts.linked:
                paths.append((agent, agent.root / name))
    return tuple(
        _folder(host, agent, path, rank=len(paths) - place) for place, (agent, path) in enumerate(paths)
    )


def _folder(host: Host, agent: Agent, path: Path, rank: int) -> Folder:
    source = SUBAGENT if agent.scope else AGENT
    label = "/".join(filter(None, (agent.label, path.name)))
    return replace(hooks_folder(host, source, path, rank, label=label), aside=path.name != HOOKS.folder)


@dataclass(slots=True)
class _Finding:
    """One look at a project. Lives as long as that look."""

    folders: dict[Path, Folder]
    files: Files
    marks_python: bool
    build: Problem | None = None
    thrown: bool = False  # did the host throw it; then it says nothing else
    hooks: list[Hook] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def find_hooks(host: Host, rules: FileRules, *, marks_python: bool) -> Found:
    """All hooks, channels and dynamic resolvers of a project, agent after agent, in the host's order.

    One error of the build stands on every hook: its host builds none of them (rules note 3.2).
    """
    folders = {folder.path: folder for folder in host.folders}
    finding = _Finding(folders, host.surroundings.files, marks_python)
    _look_around(host, rules, finding)
    discoveries = list(_discoveries(host, rules, finding))
    for agent, said in in_order(discoveries):
        problem = Problem(_with_agent(said.text, agent), Place(said.path), wanted=said.wanted)
        finding.problems.append(problem)
        if said.severity == ERROR and (finding.build is None or (not said.code and not finding.thrown)):
            finding.build, finding.thrown = problem, not said.code
    for discovery in discoveries:
        _take(discovery, finding)
        finding.hooks += list(_of_extensions(discovery, rules, finding))
    return Found(tuple(finding.hooks), tuple(finding.rejected), tuple(finding.problems))


def _look_around(host: Host, rules: FileRules, finding: _Finding) -> None:
    """Is it a project at all; where it is none, the host says nothing else."""
    package = rules.household.package if rules.household is not None else ""
    said = said_of_project(host.workspace, package, finding.files) if package else None
    if said is not None:
        finding.build, finding.thrown = Problem(said.text, Place(said.path)), True
        finding.problems.append(finding.build)


def _with_agent(text: str, agent: Agent) -> str:
    """The host's words, and whose they are: those for one subagent are the same as for another."""
    return text if agent.label in text else f"{text.removesuffix('.')} ({agent.label})."


def _discoveries(host: Host, rules: FileRules, finding: _Finding) -> Iterator[Discovery]:
    for agent in agents_of(host.workspace, rules, host.surroundings.files):
        try:
            yield discover(agent, rules, host.surroundings.files)
        except OSError as error:
            reason = why_of(error)
            problem = Problem(f"cannot read {error.filename or agent.root}: {reason}")
            finding.problems.append(problem)
            if rules.household is not None and finding.build is None:
                finding.build = problem


def _take(discovery: Discovery, finding: _Finding) -> None:
    agent = discovery.agent
    folder = finding.folders.get(agent.root / HOOKS.folder)
    if folder is None:  # it came while we were looking; the next look has it
        return
    finding.hooks += [
        _hook(source.slug, source, folder, discovery, finding) for source in discovery.hooks.found
    ]
    finding.rejected += _rejected(discovery.hooks.passed, folder)
    finding.hooks += list(_listening(discovery, finding))


def _extensions(agent: Agent, rules: FileRules, files: Files) -> tuple[Extension, ...]:
    return () if agent.scope else extensions_of(agent.root, agent.workspace, rules, files)


def _of_extensions(discovery: Discovery, rules: FileRules, finding: _Finding) -> Iterator[Hook]:
    """The hooks that mounted packages bring: behind the agent's own, under the name of their mount."""
    for extension in _extensions(discovery.agent, rules, finding.files):
        folder = finding.folders.get(extension.root / HOOKS.folder)
        if folder is None:
            continue
        for source in sources_in(extension.root, HOOKS, rules, finding.files).found:
            hook = _hook(f"{extension.name}__{source.slug}", source, folder, discovery, finding)
            yield replace(hook, root=extension.package, beside=())


def _listening(discovery: Discovery, finding: _Finding) -> Iterator[Hook]:
    for listener in discovery.listeners:
        folder = finding.folders.get(discovery.agent.root / listener.folder)
        if folder is not None:
            yield _hook(
                f"{listener.folder}/{listener.source.slug}",
                listener.source,
                folder,
                discovery,
                finding,
                listener,
            )


def _hook(
    name: str,
    source: TakenModule,
    folder: Folder,
    discovery: Discovery,
    finding: _Finding,
    listener: Listener | None = None,
) -> Hook:
    return Hook(
        name=name,
        kind="stream",
        folder=folder,
        path=source.path,
        meta=Metadata(events=_heard(source.path, finding.files)),
        handler=source.path,
        language=LANGUAGE_OF[source.path.suffix],
        real=folder.real,
        beyond_host=source.beyond_host and finding.marks_python,
        root=discovery.agent.root,
        scope=discovery.agent.scope,
        role=listener.role if listener is not None else "",
        beside=discovery.beside,
        build=finding.build,
    )


def _heard(path: Path, files: Files) -> tuple[str, ...] | None:
    """The events that its text subscribes to; None where only a load can tell."""
    try:
        return formats.stream_events(files.read(path, formats.LONGEST + 1), LANGUAGE_OF[path.suffix])
    except OSError:
        return None


def _rejected(passed: Iterable[Passed], folder: Folder) -> Iterator[Rejected]:
    for item in passed:
        place = None if item.ignored else Place(item.path)
        yield Rejected(item.path, folder.source, item.reason, place, item.slug, item.ignored)
