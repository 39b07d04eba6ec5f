"""Whoever pulls the plug, at whatever step: the old state or the new one is whole."""

from __future__ import annotations

import os
import shutil
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.packs.conftest import Cli, Disk, make_pack, on_disk

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal
from hookscope.packs.plan import PackPlan

TRANSACTION_STEPS = (
    "intend", "stage", "staged", "commit", "aside", "place", "settings", "records", "keep", "clean", "forget",
    "done",
)  # fmt: skip


def planned(manager: PackManager, action: str, pack: Path) -> PackPlan:
    if action == "install":
        return manager.plan_install(str(pack))
    made = manager.plan_uninstall("greetings") if action == "uninstall" else manager.plan_update("greetings")
    assert isinstance(made, PackPlan)
    return made


def prepared(action: str, cli: Cli, pack: Path) -> None:
    """What there is before the action; an update brings another hook, and takes one away."""
    make_pack(pack, "hello", "bye")
    if action != "install":
        assert cli("install", str(pack), "--yes").code == 0
    if action == "update":
        shutil.rmtree(pack)
        make_pack(pack, "hello", "welcome", version="2.0.0")


def killed(work: Callable[[], object]) -> bool:
    """Do it in a child, which costs no interpreter's start. Was it killed."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of forking beside threads, which do nothing here
        child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] & 0x7F == signal.SIGKILL


def seen(home: Path) -> Disk:
    """What its user and the host see."""
    return on_disk(home)


@pytest.mark.parametrize("action", ["install", "update", "uninstall"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_pack(
    action: str,
    cli: Cli,
    home: Path,
    settings: Path,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(workspace)
    pack, saved, state = tmp_path / "pack", tmp_path / "saved", tmp_path / "state"
    at_first = seen(home)
    prepared(action, cli, pack)
    bench = Workbench(Options())
    manager = PackManager(bench)
    plan = planned(manager, action, pack)
    old, old_packs = seen(home), packs_in(cli)
    keep(saved, home, state)
    steps: list[str] = []
    manager.apply(plan, step=steps.append)
    new, new_packs = seen(home), packs_in(cli)
    assert set(steps) == set(TRANSACTION_STEPS)
    assert old != new
    for number, name in enumerate(steps):
        for end in (kill, fail):
            bring_back(saved, home, state)
            step = stop_at(number, end)
            if end is kill:
                assert killed(lambda: manager.apply(plan, step=step))  # noqa: B023
            else:
                with pytest.raises(Refusal):
                    manager.apply(plan, step=step)
            told, now = packs_in(cli), seen(home)  # the next command finishes it, or takes it back
            assert (now, told) in ((old, old_packs), (new, new_packs)), (name, number)
            assert not (state / "packs" / "journal.json").exists()
            if end is kill:
                assert (now == new) == (number > steps.index("commit")), "what was written down is finished"
    bench.close_now()
    if packs_in(cli):
        assert cli("uninstall", "greetings", "--yes").code == 0
    assert seen(home) == at_first


def packs_in(cli: Cli) -> list[tuple[str, str, str]]:
    listed = cli("packs", "--json")
    assert listed.code == 0, listed.err
    return [(pack["id"], pack["version"], pack["on_disk"]["state"]) for pack in listed.json["packs"]]


def keep(saved: Path, *folders: Path) -> None:
    for folder in folders:
        if folder.exists():
            shutil.copytree(folder, saved / folder.name)


def bring_back(saved: Path, *folders: Path) -> None:
    for folder in folders:
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
        if (saved / folder.name).exists():
            shutil.copytree(saved / folder.name, folder)


def stop_at(number: int, end: Callable[[], None]) -> Callable[[str], None]:
    left = iter(range(number, -(len(TRANSACTION_STEPS) ** 2), -1))

    def step(_: str) -> None:
        if next(left) == 0:
            end()

    return step


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail() -> None:
    raise OSError(28, "No space left on device")
