"""The folders that a host searches for hooks: from settings, arguments and active plugins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.model.hook import Folder, Hook, LogLine, Problem
from hookscope.model.hook_status import FoundHooks, Ranking
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty, strings_in_list
from hookscope.model.trust import is_folder_trusted
from hookscope.values import dataclass


def rank_hooks(found: FoundHooks, *, reports_by_rank: bool) -> Ranking:
    """Return the winners in load order and in report order, and each loser with its winner.

    The hook in the folder with the higher rank wins; among equal ranks, the later hook. A winner takes
    the position of the hook that it replaces, as in a JavaScript Map, and so its place in the call order
    (milady 03, disc-03). Hooks that only Hookscope finds come last and never replace a hook of the host.
    Legacy handlers have no names of their own and never collide.
    """
    by_name: dict[str, Hook] = {}
    for hook in sorted(found.hooks, key=lambda hook: hook.beyond_host):
        if hook.kind == "legacy":
            continue
        holder = by_name.get(hook.name)
        if holder is None or (
            hook.folder.rank >= holder.folder.rank and hook.beyond_host <= holder.beyond_host
        ):
            by_name[hook.name] = hook
    legacy = tuple(hook for hook in found.hooks if hook.kind == "legacy")
    winners = (*by_name.values(), *legacy)
    winner_set = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=lambda hook: hook.folder.rank))
        if reports_by_rank
        else winners,
        shadowed_by={hook: by_name[hook.name] for hook in found.hooks if hook not in winner_set},
    )


@dataclass(frozen=True, slots=True)
class SourcePolicy:
    """Which of two hooks with one name may replace the other, by the labels of their folders."""

    replaces: Mapping[str, frozenset[str]]  # a newcomer's label → the labels it may replace
    refusal: str  # the host's warning: {source} {name} {other}


def rank_by_source(found: FoundHooks, policy: SourcePolicy) -> Ranking:
    """Return the winners in load order and in report order, and each loser with its winner.

    Hooks are merged by rank, one after another. A newcomer that the policy allows takes the position of
    the hook that it replaces; any other is ignored with a warning. The report order is by rank. A folder
    that the settings name twice is merged twice: its hooks keep their first position, and win by their
    last. Hooks that only Hookscope finds never replace one of the host. Source: disc-02 to disc-05, disc-17.
    """
    hooks = _by_rank(hook for hook in found.hooks if hook.kind != "legacy")
    by_name: dict[str, Hook] = {}
    log = []
    for hook in (
        *(candidate for candidate in hooks if not candidate.beyond_host),
        *(candidate for candidate in hooks if candidate.beyond_host),
    ):
        holder = by_name.get(hook.name)
        if holder is None or _may_replace(hook, holder, policy):
            by_name[hook.name] = hook
        elif not hook.beyond_host:
            parts = {"source": hook.folder.label, "name": hook.name, "other": holder.folder.label}
            log.append(LogLine("warn", policy.refusal.format(**parts)))
    legacy = (hook for hook in found.hooks if hook.kind == "legacy")
    winners = (*by_name.values(), *legacy)
    winner_set = set(winners)
    return Ranking(
        load_order=winners,
        report_order=tuple(sorted(winners, key=_rank)),
        shadowed_by={hook: by_name[hook.name] for hook in hooks if hook not in winner_set},
        log=tuple(log),
    )


def _by_rank(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks by rank; within a rank, those of extra folders first.

    The hooks of an extra folder that the settings name several times are repeated.
    """
    keyed = [
        (_rank(hook), position, hook) for hook in hooks for position in hook.folder.extra_positions or (inf,)
    ]
    return [hook for _, _, hook in sorted(keyed, key=lambda turn: turn[:2])]


def _rank(hook: Hook) -> int:
    return hook.folder.rank


def _may_replace(newcomer: Hook, holder: Hook, policy: SourcePolicy) -> bool:
    if newcomer.beyond_host and not holder.beyond_host:
        return False
    return holder.folder.label in policy.replaces.get(newcomer.folder.label, frozenset())


BUNDLED, EXTRA, MANAGED, WORKSPACE, PLUGIN = "bundled", "extra", "managed", "workspace", "plugin"

# (path, path as written, host) → None if the folder may be used, else the host's refusal
ExtraRule = Callable[[Path, str, Host], str | None]


def hooks_folder(
    host: Host,
    source: str,
    path: Path,
    rank: int,
    declared: str = "",
    *,
    label: str | None = None,
    plugin: str = "",
    shipped: bool = True,
) -> Folder:
    """Return a hooks folder, with its real path and trust. It need not exist.

    `label` is the host's own word for `source`; `plugin` is the id of the plugin that provides the folder.
    A bundled folder is trusted without the user's consent only if `shipped`.
    """
    facts = host.machine.files.facts(path)
    real = host.machine.files.real(path) if facts is not None else None
    trusted = (source == BUNDLED and shipped) or (real is not None and is_folder_trusted(real, host))
    return Folder(source, label or source, path, rank, declared, real, trusted, plugin)


def extra_folders(
    host: Host, rank: int, allowed: ExtraRule, *, label: str | None = None, base: Path | None = None
) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Return the extra folders that the calling program passes, unchecked, then those in the settings.

    Relative paths are resolved against `base`, by default the settings file's folder. Refused
    folders and values of the wrong type become problems.
    """
    folders = [
        hooks_folder(host, EXTRA, path, rank, "passed by the caller", label=label)
        for path in host.overrides.extra
    ]
    problems: list[Problem] = []
    listed, where = host.hooks_setting("load", "extraDirs")
    for number, item in texts_listed_at(where, listed, problems, host):
        path = host.machine.absolute(item.strip(), base=base or host.settings.file.parent)
        refusal = allowed(path, item, host)
        if refusal is None:
            declared = f"{dotted_path(where)}[{number}]"
            folders.append(hooks_folder(host, EXTRA, path, rank, declared, label=label))
        else:
            problems.append(Problem(refusal, host.settings.locate((*where, number))))
    return _without_repeated(folders), tuple(problems)


def texts_listed_at(
    where: KeyPath, listed: object, problems: list[Problem], host: Host
) -> Iterator[tuple[int, str]]:
    """Yield the texts of a list in the settings that are not blank, each with its index.

    `listed` is the value at `where`. A value of the wrong type is added to `problems`.
    """
    items = listed if isinstance(listed, list) else [listed] if listed is not None else []
    for number, item in enumerate(items):
        if not isinstance(item, str) or not isinstance(listed, list):
            path = (*where, number) if isinstance(listed, list) else where
            text = f"{dotted_path(where)} needs a list of strings"
            problems.append(Problem(text, host.settings.place_of(path)))
        elif item.strip():
            yield number, item


def _without_repeated(folders: Sequence[Folder]) -> tuple[Folder, ...]:
    """Return each folder once, at its last position, with all its positions."""
    positions: dict[Path, tuple[int, ...]] = {}
    for number, folder in enumerate(folders):
        positions[folder.path] = (*positions.get(folder.path, ()), number)
    return tuple(
        replace(folder, extra_positions=positions[folder.path])
        for number, folder in enumerate(folders)
        if positions[folder.path][-1] == number
    )


def bundled_folder(host: Host, rank: int, *, label: str | None = None) -> tuple[Folder, ...]:
    """Return the folder of hooks that ship with the program; empty if none is configured."""
    bundled, trusted, own = host.overrides.bundled, host.overrides.bundled_trusted, host.overrides.own_bundled
    if bundled is None and host.overrides.bundled_variable:
        from_env = host.env.get(host.dialect.layout.bundled_variable or "", "").strip()
        bundled = host.machine.absolute(from_env) if from_env else None
        trusted = from_env.startswith("~") or Path(from_env).is_absolute()  # else it depends on cwd
        own = None if from_env else own
    shipped = (
        () if bundled is None else (hooks_folder(host, BUNDLED, bundled, rank, label=label, shipped=trusted),)
    )
    if own is None or own == bundled:
        return shipped
    return (*shipped, hooks_folder(host, BUNDLED, own, rank + 1, label=label))  # the host's own hooks win


def accept_any_folder(path: Path, written: str, host: Host) -> str | None:
    """Accept every extra folder."""
    return None


def accept_below(state: str, refusal: str) -> ExtraRule:
    """Return a rule that accepts only folders below the state folder, compared as text.

    `refusal` is the host's sentence, with the placeholder {written}.
    """

    def allowed(path: Path, written: str, host: Host) -> str | None:
        inside = path.is_relative_to(host.machine.absolute(state))
        return None if inside else refusal.format(written=written)

    return allowed


LARGEST_BUNDLE_MANIFEST = 1_048_576  # bytes of a manifest


@dataclass(frozen=True, slots=True)
class BundleRules:
    """Where one host version finds bundles: plugins in the format of another program."""

    manifests: Mapping[str, str | None]
    """By manifest path in the bundle: the default folder of its hooks; None: the host does not read them."""
    extensions: str  # the folder of installed plugins
    settings: KeyPath = ("plugins",)  # `enabled`, `allow`, `deny`, `entries`, and `load.paths`
    hooks: str = "hooks"  # key of the manifest


def bundle_folders(host: Host, rank: int, label: str, rules: BundleRules) -> Iterator[Folder]:
    """Yield a folder for each hooks folder of an active bundle: configured paths first, then installed ones.

    A hooks folder outside its bundle is skipped. Of two bundles with the same id, the first counts.
    Source: disc-17.
    """
    plugins = mapping_or_empty(host.settings.get(rules.settings))
    known: set[str] = set()
    for root, opt_in in _bundle_roots(plugins, host, rules).items():
        found = _bundle_manifest(root, host, rules)
        if found is None or found[1] is None:
            continue
        manifest, default = found
        plugin = bundle_id(manifest.get("name"), root)
        if plugin in known or not _is_active(plugin, plugins, opt_in=opt_in):
            continue
        known.add(plugin)
        for path in _bundle_hooks(root, manifest, default, host, rules):
            yield hooks_folder(host, PLUGIN, path, rank, f"plugin {plugin}", label=label, plugin=plugin)


def bundle_ids(host: Host, rules: BundleRules) -> frozenset[str]:
    """Return the ids of all bundles, active or not."""
    roots = _bundle_roots(mapping_or_empty(host.settings.get(rules.settings)), host, rules)
    found = {root: _bundle_manifest(root, host, rules) for root in roots}
    return frozenset(bundle_id(one[0].get("name"), root) for root, one in found.items() if one is not None)


def bundle_id(name: object, root: Path) -> str:
    """Return a bundle's id: its name, else its folder's, in lower case, with dashes for other characters."""
    written = name.strip() if isinstance(name, str) else ""
    return re.sub(r"[^a-z0-9]+", "-", (written or root.name).lower()).strip("-") or "bundle-plugin"


def _bundle_roots(plugins: Mapping[str, Any], host: Host, rules: BundleRules) -> dict[Path, bool]:
    """Return the folders that may be bundles, and whether each must be enabled in the settings."""
    roots: dict[Path, bool] = {}
    for item in filter(str.strip, strings_in_list(mapping_or_empty(plugins.get("load")).get("paths"))):
        path = host.machine.absolute(item.strip())
        facts = (host.machine.files.facts(path / manifest) for manifest in rules.manifests)
        found = [path] if any(fact is not None for fact in facts) else subfolders(path, host)
        roots.update(dict.fromkeys(found, False))
    for path in subfolders(host.workspace / host.dialect.layout.state.lstrip("~/") / rules.extensions, host):
        roots.setdefault(path, True)
    for path in subfolders(host.config_folder / rules.extensions, host):
        roots.setdefault(path, False)
    return roots


def subfolders(path: Path, host: Host) -> list[Path]:
    """Return the folders in a folder; none if it cannot be read."""
    try:
        return [child.path for child in host.machine.files.children(path) if child.folder]
    except OSError:
        return []


def _bundle_manifest(
    root: Path, host: Host, rules: BundleRules
) -> tuple[Mapping[str, Any], str | None] | None:
    """Return the manifest of a bundle, and the default folder of its hooks; None if it is not a bundle."""
    files = host.machine.files
    for name, default in rules.manifests.items():
        facts = files.facts(root / name)
        if facts is None:
            continue
        if not facts.file or facts.size > LARGEST_BUNDLE_MANIFEST:
            return None
        try:
            manifest = read_json5(files.read(root / name))
        except (OSError, ValueError):
            return None
        return (manifest, default) if isinstance(manifest, dict) else None
    return None


def _is_active(plugin: str, plugins: Mapping[str, Any], *, opt_in: bool) -> bool:
    allowed, denied, entries = (plugins.get(name) for name in ("allow", "deny", "entries"))
    is_on = mapping_or_empty(mapping_or_empty(entries).get(plugin)).get("enabled")
    return not (
        plugins.get("enabled") is False
        or (isinstance(denied, list) and plugin in denied)
        or (isinstance(allowed, list) and allowed and plugin not in allowed)
        or is_on is False
        or (opt_in and not allowed and is_on is not True)
    )


def _bundle_hooks(
    root: Path, manifest: Mapping[str, Any], default: str | None, host: Host, rules: BundleRules
) -> Iterator[Path]:
    listed = manifest.get(rules.hooks)
    items = [listed] if isinstance(listed, str) else strings_in_list(listed)
    names = [item.strip() for item in items if item.strip()]
    files = host.machine.files
    for name in names or filter(None, [default]):
        path = host.machine.absolute(name, base=root)
        facts = files.facts(path)
        if facts is not None and facts.folder and files.real(path).is_relative_to(files.real(root)):
            yield path
