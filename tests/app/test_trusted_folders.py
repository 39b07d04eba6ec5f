"""Which folders may be trusted, how a question names them, and what a link changes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hookscope.app.options import Options
from hookscope.app.trust_requests import (
    TrustRequest,
    topmost_targets,
    trust_next_steps,
    trust_request,
    untrusted_folders,
    waiting_for_trust,
)
from hookscope.app.workbench import Workbench
from hookscope.embedding.library import load_hooks
from hookscope.model.failure import Refusal
from hookscope.model.trust import TrustTarget, trust_target
from hookscope.storage.trust import TrustStore

MakeHook = Callable[..., Path]
NEW = "{openclaw: {events: ['command:new']}}"
SAYS = "def handler(event): print('ran')\n"


def a_bench(workspace: Path, **more: object) -> Workbench:
    return Workbench(Options(workspace=workspace, bundled=workspace / "none", **more))  # type: ignore[arg-type]


def states(workspace: Path, **more: object) -> dict[str, str]:
    return {row.hook.name: str(row.state) for row in a_bench(workspace, **more).scan().inventory.hooks}


def targets(workspace: Path) -> list[TrustTarget]:
    view = a_bench(workspace).scan()
    return [trust_target(row.hook, view.host) for row in view.inventory.hooks]


async def fired(bench: Workbench, *, sandbox: bool = False) -> list[tuple[str, str, str]]:
    """Name, status and error of each handler."""
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, "command:new"))
    try:
        run = await (await bench.fire_sandboxed(view, plan) if sandbox else bench.fire(view, plan))
    finally:
        await bench.close()
    return [
        (one.call.name, one.status, one.error.type if one.error is not None else "") for one in run.results
    ]


@pytest.fixture
def repo(tmp_path: Path, make_hook: MakeHook) -> Path:
    """A workspace that is a hook itself, with a neighbour."""
    make_hook(tmp_path / "src", "repo", NEW, SAYS)
    make_hook(tmp_path / "src/other/hooks", "b", NEW, SAYS)
    return tmp_path / "src/repo"


def links(home: Path, repo: Path) -> dict[str, Path]:
    """Folders that are too wide, as somebody may name them."""
    (home / "inside").mkdir()
    (home.parent / "to-home").symlink_to(home)
    (home.parent / "to-link").symlink_to("to-home")
    return {
        "home": home,
        "home with a slash": Path(f"{home}/"),
        "home by dots": home / "inside/..",
        "link to home": home.parent / "to-home",
        "link to a link": home.parent / "to-link",
        "above home": home.parent,
        "root": Path("/"),
        "root twice": Path("//"),
        "root of the process": Path("/proc/self/root"),
        "above the workspace": repo.parent,
        "above by dots": Path(f"{repo}/../"),
        "a tilde": Path("~"),
    }


WIDE = [
    "home", "home with a slash", "home by dots", "link to home", "link to a link", "above home", "root",
    "root twice", "root of the process", "above the workspace", "above by dots", "a tilde",
]  # fmt: skip


@pytest.mark.parametrize("name", WIDE)
def test_wide_folder_is_refused_without_everything_below(home: Path, repo: Path, name: str) -> None:
    folder = links(home, repo)[name]
    if not folder.expanduser().exists():
        pytest.skip("this system has no such folder")
    bench = a_bench(repo)
    with pytest.raises(Refusal, match="too broad to trust") as refused:
        bench.trust(folder)
    assert "hookscope trust --everything-below" in str(refused.value)
    assert not bench.open().trust.folders
    real = bench.trust(folder, everything_below=True)
    assert a_bench(repo).open().trust.everything_below == {real}


@pytest.mark.parametrize("name", [".", "hooks", "../other", "deep/er", "../other/hooks"])
def test_workspace_and_its_subfolders_may_be_trusted(home: Path, repo: Path, name: str) -> None:
    (repo / name).mkdir(parents=True, exist_ok=True)
    assert a_bench(repo).trust(repo / name) == (repo / name).resolve()


@pytest.mark.parametrize(
    "name", ["link/..", "link/../hooks", "{repo}/link/..", "./link/./..", "twice/..", "/proc/self/cwd/.."]
)
def test_dots_behind_a_link_are_refused(repo: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`cd` folds them as text and all else follows the link: one of the two was not meant."""
    (repo.parent / "elsewhere/inner").mkdir(parents=True)
    (repo / "hooks").mkdir()
    (repo / "link").symlink_to("../elsewhere/inner")
    (repo / "twice").symlink_to("link")
    monkeypatch.chdir(repo)
    bench = a_bench(repo)
    with pytest.raises(Refusal, match="Name one"):
        bench.trust(Path(name.format(repo=repo)))
    assert not bench.open().trust.folders
    bench.trust(Path("hooks/../hooks"))  # without a link there is one


def test_home_as_workspace_is_refused_but_its_hooks_folder_is_not(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / "hooks", "greet", NEW)
    with pytest.raises(Refusal, match="it is a home folder"):
        a_bench(home).trust(home)
    a_bench(home).trust(home / "hooks")
    assert states(home) == {"greet": "ready"}


@pytest.mark.parametrize("assumed", ["home", "env"])
def test_an_assumed_home_widens_nothing(home: Path, tmp_path: Path, repo: Path, assumed: str) -> None:
    other = tmp_path / "elsewhere/deep"
    other.mkdir(parents=True)
    what_if = {"home": other} if assumed == "home" else {"env": {"HOME": str(other)}}
    for folder in (home, home.parent):
        with pytest.raises(Refusal, match="home folder"):
            a_bench(repo, **what_if).trust(folder)


def test_home_may_be_a_link(home: Path, tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk/people/me").mkdir(parents=True)
    (tmp_path / "me").symlink_to(tmp_path / "disk/people/me")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for folder in ("me", "disk/people/me", "disk/people", "disk"):
        with pytest.raises(Refusal, match="home folder"):
            a_bench(repo).trust(tmp_path / folder)


def test_a_workspace_may_be_a_link(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links/repo").symlink_to(repo)
    for folder in (repo.parent, tmp_path / "links"):
        with pytest.raises(Refusal, match="it contains the workspace"):
            a_bench(tmp_path / "links/repo").trust(folder)
    assert a_bench(tmp_path / "links/repo").trust(tmp_path / "links/repo") == repo


@pytest.mark.parametrize("where", ["..", "../../src", "../../up", "absolute"])
def test_hooks_that_lead_above_the_workspace_ask_for_the_hook_alone(repo: Path, where: str) -> None:
    (repo.parent.parent / "up").symlink_to(repo.parent)
    (repo / "hooks").symlink_to(repo.parent if where == "absolute" else where)
    assert targets(repo) == [TrustTarget(repo)]
    a_bench(repo).trust(targets(repo)[0].folder, must_be_real=True)
    assert states(repo) == {"repo": "ready"}
    assert states(repo.parent / "other") == {"b": "untrusted"}


def test_linked_hooks_request_trust_for_their_real_folder(repo: Path) -> None:
    (repo / "hooks").symlink_to("../other/hooks")
    assert targets(repo) == [TrustTarget(repo.parent / "other/hooks")]


@pytest.mark.parametrize("which", ["home", "above home", "above the workspace"])
@pytest.mark.parametrize("trust_all", [False, True])
def test_a_handler_that_leads_into_a_wide_folder_is_refused(
    home: Path, repo: Path, make_hook: MakeHook, which: str, trust_all: bool
) -> None:
    wide = {"home": home, "above home": home.parent, "above the workspace": repo.parent}[which]
    (wide / "stray.py").write_text(SAYS)
    folder = make_hook(repo / "hooks", "a", NEW)
    (folder / "handler.py").unlink()
    (folder / "handler.py").symlink_to(wide / "stray.py")
    options = Options(workspace=repo, bundled=repo / "none", dialect="milady")
    view = Workbench(options, trust_all=trust_all).scan()
    (row,) = view.inventory.hooks
    gate = next(gate for gate in row.verdict.gates if gate.name == "trusted")
    assert gate.passed is False
    assert f"`hookscope trust --everything-below {wide}`" in gate.reason


def test_all_places_that_offer_trust_say_the_same(repo: Path, home: Path) -> None:
    (repo / "hooks").mkdir()
    (repo / "hooks/away").symlink_to(home)
    (home / "HOOK.md").write_text(f"---\nname: away\ndescription: d\nmetadata: {NEW}\n---\n")
    (home / "handler.py").write_text(SAYS)
    bench = a_bench(repo)
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, "command:new"))
    (target,) = untrusted_folders(view)
    assert target == TrustTarget(home, "it is a home folder")
    offer = target.allow_hint(view.host.machine.short)
    assert "--everything-below" in offer
    (row,) = view.inventory.hooks
    assert row.verdict.failed()[-1].reason == offer
    assert trust_next_steps(view, plan) == (offer,)
    (finding,) = [one for one in bench.doctor(view) if one.name == "trust"]
    assert finding.next_step.lower() == f"{offer}.".lower()


def test_a_question_names_the_real_folder_the_handlers_and_the_programs(
    repo: Path, make_hook: MakeHook
) -> None:
    hooks = repo.parent / "other/hooks"
    make_hook(hooks, "c", NEW, file="handler.ts")
    make_hook(hooks / "node_modules", "not-counted", NEW)
    (repo.parent / "other/far/agent/hooks/sub").mkdir(parents=True)
    (repo.parent / "other/far/agent/hooks/sub/one.ts").write_text("")
    (repo / "hooks").symlink_to("../other")
    (repo.parent / "other/.hookscope").mkdir()
    (repo.parent / "other/.hookscope/config.yaml").write_text("node: ./evil.sh\n")
    view = a_bench(repo).scan()
    request = trust_request(view, TrustTarget(repo.parent / "other"))
    assert request.question == (
        f"3 handlers in {repo.parent / 'other'} and below have never run here. "
        f"The workspace runs them with {repo.parent / 'other/evil.sh'} (`node:` in .hookscope/config.yaml). "
        "Trust this folder and everything below it?"
    )


@pytest.mark.parametrize(("below", "found"), [("one", 0), ("two", 1), (".", 1)])
def test_request_does_not_count_trusted_handlers(
    repo: Path, make_hook: MakeHook, below: str, found: int
) -> None:
    for name in ("one", "two"):
        make_hook(repo / "hooks" / name, "deep", NEW)
    a_bench(repo).trust(repo / "hooks/one")
    request = trust_request(a_bench(repo).scan(), TrustTarget(repo / "hooks" / below))
    assert (request.handlers, request.more) == (found, False)


def test_limited_search_reports_a_minimum() -> None:
    assert TrustRequest(TrustTarget(Path("/a")), 7, more=True).handlers_text == "7 or more handlers"


def test_a_folder_swapped_during_the_question_is_not_trusted(repo: Path, make_hook: MakeHook) -> None:
    make_hook(repo / "hooks", "a", NEW)
    (target,) = targets(repo)
    (repo / "hooks").rename(repo / "moved")
    (repo / "hooks").symlink_to("../other/hooks")
    bench = a_bench(repo)
    with pytest.raises(Refusal, match="now leads to"):
        bench.trust(target.folder, must_be_real=True)
    assert not bench.open().trust.folders


def swap_folder(repo: Path) -> None:
    (repo / "hooks/a").rename(repo / "a")
    (repo / "hooks/a").symlink_to("../../other/hooks/b")


def swap_hooks(repo: Path) -> None:
    (repo / "hooks").rename(repo / "moved")
    (repo / "hooks").symlink_to("../evil")


def swap_handler(repo: Path) -> None:
    handler = next((repo / "hooks/a").glob("handler.*"))
    handler.unlink()
    handler.symlink_to(repo.parent / "evil/a" / handler.name)


@pytest.mark.parametrize("swap", [swap_folder, swap_hooks, swap_handler])
@pytest.mark.parametrize("sandbox", [False, True])
@pytest.mark.parametrize("suffix", [".py", ".js"])
async def test_a_link_swapped_after_the_look_loads_nothing(
    repo: Path, make_hook: MakeHook, swap: Callable[[Path], None], sandbox: bool, suffix: str
) -> None:
    mark = repo.parent.parent / "mark"
    good = SAYS if suffix == ".py" else "module.exports = () => {}\n"
    leaves = "open({!r}, 'w')\n" if suffix == ".py" else "require('fs').writeFileSync({!r}, '')\n"
    evil = leaves.format(str(mark))
    for folder, code in ((repo / "hooks", good), (repo.parent / "evil", evil + good)):
        make_hook(folder, "a", NEW, code, file=f"handler{suffix}")
    for file in (repo.parent / "other/hooks/b").glob("handler.*"):
        file.rename(file.with_suffix(suffix))
        file.with_suffix(suffix).write_text(evil + good)
    a_bench(repo).trust(repo / "hooks")
    bench = a_bench(repo)
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, "command:new"), only="a")
    assert len(plan.calls) == 1
    swap(repo)
    try:
        run = await (await bench.fire_sandboxed(view, plan) if sandbox else bench.fire(view, plan))
    finally:
        await bench.close()
    assert [one.status for one in run.results] == ["error"]
    assert not mark.exists()


def test_a_trusted_folder_replaced_by_a_link_is_not_followed(repo: Path, make_hook: MakeHook) -> None:
    make_hook(repo / "hooks", "a", NEW)
    a_bench(repo).trust(repo / "hooks")
    assert states(repo) == {"a": "ready"}
    swap = repo.parent / "other/hooks"
    (repo / "hooks").rename(repo / "moved")
    (repo / "hooks").symlink_to(swap)
    assert states(repo) == {"b": "untrusted"}


TOO_WIDE_RECORDS = ("home", "above home", "root", "above the workspace")
UNCHECKED: tuple[object, ...] = ({"since": "2026-01-01"}, 1, {"everything_below": "yes"})
CHECKED = {"everything_below": False}  # by this version, when it was recorded


@pytest.mark.parametrize(
    ("wide", "entry"),
    [
        *((wide, entry) for wide in TOO_WIDE_RECORDS for entry in UNCHECKED),
        *((wide, CHECKED) for wide in TOO_WIDE_RECORDS if wide != "above the workspace"),
    ],
)
def test_a_wide_record_of_an_earlier_version_does_not_count(
    home: Path, repo: Path, tmp_path: Path, make_hook: MakeHook, wide: str, entry: object
) -> None:
    make_hook(repo / "hooks", "a", NEW)
    folders = {"home": home, "above home": tmp_path, "root": Path("/"), "above the workspace": repo.parent}
    folder = folders[wide]
    workspace = repo
    if wide == "home":
        make_hook(home / "hooks", "a", NEW)
        workspace = home
    (tmp_path / "state").mkdir()
    file = tmp_path / "state/trust.json"
    file.write_text(json.dumps({"folders": {str(folder): entry}}))
    if wide == "above the workspace" and entry == {"everything_below": False}:
        assert states(workspace) == {"a": "ready"}  # this version has checked it when it was recorded
        return
    assert states(workspace) == {"a": "untrusted"}
    bench = a_bench(workspace)
    found = [one for one in bench.doctor(bench.scan()) if "no longer valid" in one.found]
    assert [str(folder) in one.found and "--everything-below" in one.next_step for one in found] == [True]
    file.write_text(json.dumps({"folders": {str(folder): {"everything_below": True}}}))
    assert states(workspace) == {"a": "ready"}


@pytest.mark.parametrize("others", [0, 7, 8, 20])
def test_checked_record_covers_its_subfolders_among_many_records(
    repo: Path, tmp_path: Path, make_hook: MakeHook, others: int
) -> None:
    make_hook(repo / "hooks", "a", NEW)
    folders = [str(tmp_path / f"elsewhere-{number}") for number in range(others)]
    (tmp_path / "state").mkdir()
    file = tmp_path / "state/trust.json"
    file.write_text(json.dumps({"folders": dict.fromkeys(folders, CHECKED)}))
    assert states(repo) == {"a": "untrusted"}
    for trusted in (repo.parent, repo / "hooks", repo / "hooks/a"):
        file.write_text(json.dumps({"folders": dict.fromkeys([*folders, str(trusted)], CHECKED)}))
        assert states(repo) == {"a": "ready"}


async def test_embedding_program_decides_trust_itself(home: Path, make_hook: MakeHook) -> None:
    make_hook(home / "hooks", "greet", NEW)
    (home / "all").symlink_to(".")
    report = await load_hooks(extra_dirs=[home / "all/hooks"], workspace_path=home / "none")
    assert report.registered == 1


def test_another_path_of_a_wide_folder_is_refused(home: Path, repo: Path) -> None:
    """Another name for the same folder: here a spelling that comparing texts does not see."""
    spelled = Path(os.path.join("/proc/self/cwd"))
    os.chdir(home)
    if not spelled.exists():
        pytest.skip("this system has no /proc")
    with pytest.raises(Refusal, match="it is a home folder"):
        a_bench(repo).trust(spelled)


def test_too_wide_hook_requests_trust_for_its_hooks_folder(
    home: Path, repo: Path, make_hook: MakeHook
) -> None:
    make_hook(home.parent, home.name, NEW)
    config = home / ".openclaw/openclaw.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"hooks": {"internal": {"load": {"extraDirs": [str(home.parent)]}}}}))
    found = [target for target in targets(repo) if target.refusal_reason]
    assert [target.folder for target in found] == [home.parent]


def test_dropped_trust_includes_subfolders_only(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "state" / "trust.json")
    above, folder, below = tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c/d"
    beside = tmp_path / "a/bb"
    for one in (above, folder, below, beside):
        store.add(one, {})
    store.remove([folder])
    assert store.trust().folders == {above, beside}
    store.remove([tmp_path / "elsewhere"])
    assert store.trust().folders == {above, beside}


def test_nested_folders_request_trust_for_the_topmost() -> None:
    targets = [TrustTarget(Path(path)) for path in ("/w/a/b", "/w/a", "/w/ab", "/w/a", "/x/y/z")]
    assert [str(target.folder) for target in topmost_targets(targets)] == ["/w/a", "/w/ab", "/x/y/z"]


def test_fire_requests_trust_only_for_the_hooks_it_would_call(
    home: Path, repo: Path, make_hook: MakeHook
) -> None:
    make_hook(repo / "hooks", "a", NEW)
    make_hook(home / ".openclaw/hooks", "b", "{openclaw: {events: ['agent:bootstrap']}}")
    bench = a_bench(repo)
    view = bench.scan()

    def waits(event: str, only: str | None = None) -> list[Path]:
        plan = bench.plan(view, bench.template(view, event), only=only)
        return [target.folder for target in waiting_for_trust(view, plan)]

    assert waits("command:new") == [repo / "hooks"]
    assert waits("agent:bootstrap") == [home / ".openclaw/hooks"]
    assert waits("command:new", only="b") == []
    assert waits("command:new", only="a") == [repo / "hooks"]
