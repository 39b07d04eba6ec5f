"""What a host's own program reports about its hooks, and Hookscope's report in the same form."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookscope.hosts.folders.search_paths import BUNDLED, WORKSPACE
from hookscope.hosts.plugins.shipped_plugin_gates import SWITCH_GATES
from hookscope.model.hook_status import Inventory
from hookscope.model.host import CommandFlags, Host
from hookscope.model.payload import mapping_or_empty
from hookscope.model.program_report import FOUND, PLUGINS, RESULT, Answers, ReportedFact, ReportedItem
from hookscope.model.uncalled_hooks import event_kind

HEADER_ERROR = re.compile(r'(frontmatter in "[^"]*"): .*', re.DOTALL)  # then come a YAML library's words
REPORT_ORDER = ("os", "bins", "anyBins", "env", "config")
TEXT_FIELDS = {"source": "source", "hookKey": "settings key"}
FILE_FIELDS = {"filePath": "HOOK.md", "handlerPath": "handler"}


def command_answers(host: Host, inventory: Inventory, names: Sequence[str]) -> Answers:
    """Return the JSON documents that Hookscope expects the host's command to print."""
    command = host.dialect.command
    assert command is not None, "the dialect has no command"
    flags = CommandFlags()
    return {
        "list": command.list(host, inventory, flags).document,
        "check": command.check(host, inventory, flags).document,
        PLUGINS: {PLUGINS: list(_own_plugins(inventory))},
        **{f"info {name}": command.info(host, inventory, name).document for name in names},
    }


def _own_plugins(inventory: Inventory) -> Iterator[Mapping[str, Any]]:
    """Yield a document for each plugin that the host's list of plugins shows."""
    for row in inventory.hooks:
        hook = row.hook
        gates = {gate.name: gate for gate in row.verdict.gates}
        if event_kind(hook) != "plugin" or hook.beyond_host or row.verdict.shadowed_by is not None:
            continue
        if "manifest" not in gates or False in (gates["manifest"].passed, gates["handler"].passed):
            continue
        failed = next((gates[name] for name in SWITCH_GATES if gates[name].passed is False), None)
        is_known = failed is None or failed.name != "slot"  # some versions list it as enabled
        yield {
            "id": hook.name,
            "origin": hook.folder.source,
            "enabled": failed is None if is_known else None,
            "error": failed.reason if failed is not None else None,
            "dependencyStatus": {"missing": list(gates["packages"].missing) if "packages" in gates else None},
            "events": None if row.unread_registrations else sorted(row.folder_events),
        }


def listed_items(answers: Answers) -> tuple[ReportedItem, ...]:
    """Return the hooks of `list`, each with the facts that `check` and `info` add, and the plugins.

    A hook that a plugin's code registers is a fact of that plugin, and an item without facts: some versions
    list it instead of a folder of the same name, although both run.
    """
    ready = _ready_names(answers.get("check"))
    listed = {str(entry["id"]): entry for entry in _entries(answers.get(PLUGINS), PLUGINS) if "id" in entry}
    plugins = {
        name: entry
        for name, entry in listed.items()
        if entry.get("origin") != BUNDLED and entry.get("format") != "bundle"
    }
    events: dict[str, set[str]] = {name: set(entry.get("events") or ()) for name, entry in plugins.items()}
    hooks = []
    for entry in _entries(answers.get("list"), "hooks"):
        if (plugin := entry.get("pluginId")) in events:
            events[str(plugin)].update(map(str, entry.get("events", ())))
            hooks.append(ReportedItem(str(entry.get("name")), may_be_code=True))
        elif "name" in entry:
            facts = dict(_listed_facts(entry, answers.get(f"info {entry['name']}"), ready))
            is_unknown = plugin is not None and plugin not in listed  # of the workspace
            hooks.append(ReportedItem(str(entry["name"]), facts, may_be_code=is_unknown))
    found = (
        _plugin_item(name, entry, events[name])
        for name, entry in plugins.items()
        if entry.get("origin") != WORKSPACE  # some versions list them, others never
    )
    return (*hooks, *found)


def _plugin_item(name: str, entry: Mapping[str, Any], events: set[str]) -> ReportedItem:
    is_on = entry.get("enabled") is True
    state = "on" if is_on else str(entry.get("error") or "off")
    facts = {FOUND: ReportedFact(True, "listed")}
    if entry.get("enabled") is not None:
        facts[RESULT] = ReportedFact(is_on, state)
    missing = mapping_or_empty(entry.get("dependencyStatus")).get("missing")
    if isinstance(missing, list):
        text = f"missing {', '.join(map(str, missing))}" if missing else "installed"
        facts["packages"] = ReportedFact(sorted(map(str, missing)), text)
    if events and is_on:  # without any it may have failed, which only a load shows
        facts["hooks of its code"] = ReportedFact(frozenset(events), ", ".join(sorted(events)))
    return ReportedItem(f"{name} (plugin)", facts, is_plugin=True)


def _entries(document: Any, member: str) -> list[Mapping[str, Any]]:
    found = mapping_or_empty(document).get(member)
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []


def _ready_names(document: Any) -> frozenset[str] | None:
    """Return the names that `check` counts as ready; None if it has no such list."""
    names = mapping_or_empty(mapping_or_empty(document).get("hooks")).get("eligible")
    return frozenset(map(str, names)) if isinstance(names, list) else None


def _listed_facts(
    entry: Mapping[str, Any], info: Any, ready: frozenset[str] | None
) -> Iterator[tuple[str, ReportedFact]]:
    details = mapping_or_empty(info)
    missing = entry.get("missing")
    yield FOUND, ReportedFact(True, "listed")
    for name, label in TEXT_FIELDS.items():
        value = entry.get(name, details.get(name))
        if isinstance(value, str):
            yield label, ReportedFact(value, value)
    for name, label in FILE_FIELDS.items():
        if isinstance(details.get(name), str):
            yield label, ReportedFact(os.path.realpath(details[name]), details[name])
    for name in REPORT_ORDER:
        names = missing.get(name) if isinstance(missing, Mapping) else None
        if isinstance(names, list):
            yield name, ReportedFact(names, f"missing {', '.join(map(str, names))}" if names else "met")
    enabled = entry.get("enabledByConfig")
    if isinstance(enabled, bool):
        yield "enabled", ReportedFact(enabled, "on" if enabled else str(entry.get("blockedReason") or "off"))
    for name, label in (("events", "events"), ("unknownEvents", "unknown events")):
        names = entry.get(name)
        if isinstance(names, list):
            yield label, ReportedFact(names, ", ".join(map(str, names)) or "none")
    yield from _result_facts(entry, ready)


def _result_facts(
    entry: Mapping[str, Any], ready: frozenset[str] | None
) -> Iterator[tuple[str, ReportedFact]]:
    loads = entry.get("loadable", entry.get("eligible"))
    if not isinstance(loads, bool):
        return
    reason = entry.get("blockedReason")
    yield RESULT, ReportedFact(loads, "ready" if loads else str(reason or "not ready"))
    if not loads and isinstance(reason, str):
        yield "reason", ReportedFact(reason, reason)
    if ready is not None:
        counted = entry["name"] in ready
        yield "check", ReportedFact(counted, "counted as ready" if counted else "counted as not ready")


def discovery_answers(host: Host, inventory: Inventory, names: Sequence[str]) -> Answers:
    """Return the hook files and diagnostics that Hookscope expects from the host's own discovery."""
    from hookscope.hosts.streams import stream_system_of  # most hosts have no streams
    from hookscope.hosts.streams.agent_layout import agents_of, discover_agent, ordered_diagnostics

    rules, files = stream_system_of(host.dialect).file_rules, host.machine.files
    found = [discover_agent(agent, rules, files) for agent in agents_of(host.workspace, rules, files)]
    root = host.workspace / "agent"
    return {
        "discovery": {
            "files": [
                _below(source.path, root)
                for one in found
                for source in one.hooks.found
                if not source.beyond_host
            ],
            "diagnostics": [
                {"message": item.message, "sourcePath": _below(item.path, root), "severity": item.severity}
                for _, item in ordered_diagnostics(found)
            ],
        }
    }


def discovered_items(answers: Answers) -> tuple[ReportedItem, ...]:
    """Return the hook files of a discovery, and the files that its diagnostics name."""
    discovery = answers.get("discovery")
    if not isinstance(discovery, Mapping):
        return ()
    files = [str(name) for name in discovery.get("files", ())] or list(_manifest_files(discovery))
    messages: dict[str, list[Mapping[str, Any]]] = {}
    root = _agent_root(discovery)
    for item in _entries(discovery, "diagnostics"):
        path = str(item.get("sourcePath", ""))
        name = _below(Path(path), Path(root)) if root and os.path.isabs(path) else path
        messages.setdefault(name, []).append(item)
    names = dict.fromkeys((*files, *messages))
    return tuple(
        ReportedItem(name, dict(_discovered_facts(name in files, messages.get(name, [])))) for name in names
    )


def _discovered_facts(
    is_hook: bool, diagnostics: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, ReportedFact]]:
    texts = [f"{item.get('severity')}: {item.get('message')}" for item in diagnostics]
    yield FOUND, ReportedFact(is_hook, "a hook" if is_hook else "no hook")
    yield (
        "messages",
        ReportedFact([HEADER_ERROR.sub(r"\1", text) for text in texts], "; ".join(texts) or "none"),
    )
    yield RESULT, ReportedFact(is_hook, "a hook" if is_hook else "; ".join(texts) or "no hook")


def _manifest_files(discovery: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hook files of an agent's manifest, then those of its subagents."""
    root = _agent_root(discovery)
    waiting = [discovery.get("manifest")]
    while waiting:
        manifest = waiting.pop(0)
        if not isinstance(manifest, Mapping):
            continue
        below = _below(Path(str(manifest.get("agentRoot", root))), Path(root))
        for hook in _entries(manifest, "hooks"):
            yield os.path.normpath(os.path.join(below, str(hook.get("logicalPath", ""))))
        waiting[:0] = [subagent.get("manifest") for subagent in _entries(manifest, "subagents")]


def _agent_root(discovery: Mapping[str, Any]) -> str:
    return str(mapping_or_empty(discovery.get("manifest")).get("agentRoot", ""))


def _below(path: Path, root: Path) -> str:
    return os.path.relpath(path, root) if path.is_relative_to(root) else str(path)
