"""`hookscope keys`: what a user who writes `keys.yaml` has to know."""

import json
import os
from pathlib import Path

from tests.cli.conftest import Program


def test_keys_lists_bindings_as_text_and_json_and_fails_on_mistakes(hookscope: Program) -> None:
    listed = json.loads(hookscope("keys", "--json").out)
    by_id = {action["id"]: action for action in listed["actions"]}
    assert by_id["fire.fire"]["keys"] == ["ctrl+r", "f5"]
    assert by_id["filter.keep"]["letters"] is False
    assert (listed["preset"], listed["presets"], listed["problems"]) == ("default", ["default", "vim"], [])
    vim = json.loads(hookscope("keys", "--preset", "vim", "--json").out)
    assert {"j", "down"} == set({action["id"]: action for action in vim["actions"]}["list.down"]["keys"])

    folder = Path(os.environ["HOOKSCOPE_CONFIG_DIR"])
    folder.mkdir()
    # What is listed can be written, and changes nothing.
    lines = [f"{name}: {json.dumps(action['keys'])}" for name, action in by_id.items()]
    (folder / "keys.yaml").write_text("\n".join(lines))
    again = hookscope("keys", "--json")
    assert (again.code, json.loads(again.out)["actions"]) == (0, listed["actions"])

    (folder / "keys.yaml").write_text("hooks.group: v\nhooks.copi: c\n")
    told = hookscope("keys")
    assert told.code == 1
    assert (
        f"{folder / 'keys.yaml'}, line 2: There is no action hooks.copi. Did you mean hooks.copy?" in told.err
    )
    assert ["hooks.group", "v"] in [line.split()[:2] for line in told.out.splitlines()]
    assert hookscope("keys", "--preset", "emacs").code == 2
