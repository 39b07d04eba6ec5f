"""Two tiers of tests: the gate, which `pytest` runs, and the rest, which `pytest --thorough` adds.

A test of the rest is marked `thorough`, lies in a module of `THOROUGH`, or draws the console at one more
size, where nothing about it is layout. Named with `::` or chosen with `-m`, each of them runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

# Module, or the folder of several → what it adds to what the gate has seen.
THOROUGH = {
    "integrations/dap/test_conditions.py": "breakpoints with conditions in each language",
    "faults/": "every way in which a handler can fail; the gate has the kinds, in runtime/",
    "runtime/test_python_faults.py": "some of them under other Pythons",
    "runtime/test_hostile_events.py": "hostile events in workers",
    "helpers/test_looking_starts_nothing.py": "every command in a hostile workspace",
    "console/test_painting.py": "every line of every screen against Textual's own painting",
    "console/test_debugger.py": "the debugger in the console, line by line",
    "console/test_actions_during_a_run.py": "every action while a run is going",
    "console/test_reachable_actions.py": "every action by its key, the palette, the help and a click",
    "console/test_styling.py": "every part against Textual's own styles",
    "console/test_hostile.py": "hostile text in every place at every size",
    "console/test_every_action.py": "every action in an empty workspace",
    "console/test_killed.py": "consoles that are killed",
    "console/test_many_hooks.py": "thousands of hooks",
    "console/fire/test_hostile.py": "hostile text in the composer and the run",
    "authoring/lint/test_hostile.py": "hostile sources",
    "cli/test_no_secret_in_files.py": "a day's work, and no secret in any file",
    "cli/test_cached_node_version.py": "programs that change while Hookscope knows them",
    "cli/test_languages.py": "each language with and without its program",
    "cli/test_linear_scans.py": "counts the work of large scans",
    "cli/test_locales.py": "every command in other locales",
    "cli/test_plugin_packages.py": "plugins as people write them",
    "cli/test_ignored_changes.py": "what each host keeps of a changed event",
    "cli/test_modules_without_handlers.py": "modules whose default export is not a function",
    "cli/test_other_registrations.py": "what plugins register besides hooks",
    "cli/test_settings_of_plugins.py": "plugin settings that a schema refuses",
    "cli/test_unreadable_files.py": "each kind of unreadable file in each place",
    "authoring/scaffold/test_every_host.py": "new hooks for every host in every language",
    "packs/test_hostile_archives.py": "hostile archives",
    "helpers/test_named_programs.py": "interpreters that a workspace names",
    "packs/test_kills.py": "installs that are killed",
    "integrations/pytest_plugin/": "pytest inside pytest",
    "integrations/serve/test_browser.py": "a real browser",
    "shipped/test_wheel.py": "the wheel in an empty environment",
    "runtime/test_injected_faults.py": "every fault that the console injects, in each language and kind",
    "analysis/test_fuzzing.py": "searches for failing events",
}
LAYOUT = ("console/test_layout.py", "console/test_small_screen.py", "console/fire/test_form.py")
USUAL = (120, 36)  # the size at which the gate sees a story that is told at several


def thorough(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests that the gate leaves out."""
    stories: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        module = item.nodeid.partition("::")[0].removeprefix("tests/")
        if item.get_closest_marker("thorough") or module.startswith(tuple(THOROUGH)):
            yield item
        elif not module.startswith(LAYOUT) and (size := _size(item)) is not None:
            stories[item.nodeid.replace(str(size), "")].append(item)
    for told in stories.values():
        kept = next((item for item in told if _size(item) == USUAL), told[0])
        yield from (item for item in told if item is not kept)


def _size(item: pytest.Item) -> tuple[int, int] | None:
    spec = getattr(item, "callspec", None)
    size = spec.params.get("size") if spec is not None else None
    return size if isinstance(size, tuple) else None
