"""A git repository at one commit: fetched without history, read without a checkout.

So no hook, filter or submodule of it, and none of its user's, is ever run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from hookscope.core.text import one_line
from hookscope.packs.archives import unpacked
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetched, Fetching
from hookscope.packs.limits import LIMITS
from hookscope.packs.programs import Ran, run
from hookscope.packs.specs import Spec, without_login

OFF = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false")
SHORT = re.compile(r"[0-9a-f]{6,39}")  # of a commit, perhaps
ASIDE = ("warning:", "hint:")
PROTOCOLS = "https:ssh:file"
# What git tells its hooks, and would have ours work on the repository that they stand in.
OF_A_REPOSITORY = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
    }
)
OF_CONFIGURATION = frozenset({"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG"})
LARGEST = replace(LIMITS, archive=LIMITS.total)  # it is not packed


def fetch_git(spec: Spec, how: Fetching) -> Fetched:
    """The files of one commit. Raises PackError, Cancelled."""
    how.progress.step(f"fetching {without_login(spec.url)} with git")
    _git(["init", "--quiet", "--bare", "repository"], how, own=True)
    wanted = spec.wanted or "HEAD"
    words = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", spec.url, wanted]
    ran = _git(words, how, inside=True)
    if ran.code != 0:
        raise _failed(spec, ran)
    commit = _git(["rev-parse", "FETCH_HEAD"], how, own=True, inside=True).out.strip()
    how.progress.step("unpacking")
    archive = how.work / "files.tar"
    ran = _git(["archive", "--format=tar", f"--output={archive}", "FETCH_HEAD"], how, own=True, inside=True)
    if ran.code != 0:
        raise _failed(spec, ran)
    with archive.open("rb") as file:
        source = file.read(LARGEST.archive + 1)
    tree = unpacked(source, "files.tar", LARGEST)
    return Fetched(spec, tree, commit, f"git-{commit}", commit[:12])


def _git(words: Sequence[str], how: Fetching, *, own: bool = False, inside: bool = False) -> Ran:
    """`own`: without its user's configuration, which only fetching needs: proxies and credentials."""
    left_out = OF_A_REPOSITORY | (OF_CONFIGURATION if own else frozenset())
    env = {name: value for name, value in how.env.items() if name not in left_out}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS, "GIT_LFS_SKIP_SMUDGE": "1"}
    env["GIT_NO_LAZY_FETCH"] = "1"  # a repository on this disk names a program for that
    env.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    env["GIT_ASKPASS"] = env["SSH_ASKPASS"] = "true"  # a program that says nothing
    if own:
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    where = ("--git-dir", str(how.work / "repository")) if inside else ()
    return run(["git", *OFF, *where, *words], how, cwd=how.work, env=env)


def _failed(spec: Spec, ran: Ran) -> PackError:
    lines = [line for line in ran.err.splitlines() if line.strip() and not line.startswith(ASIDE)]
    first = lines[0] if lines else f"it ended with {ran.code}"  # of ssh, where it was that
    said = one_line(first.removeprefix("fatal:").removeprefix("error:"))
    wanted = f" at {spec.wanted}" if spec.wanted else ""
    what = f"git cannot fetch {spec.url}{wanted}: {said.rstrip('.')}."
    then = "A commit is named by all of its 40 digits. " if SHORT.fullmatch(spec.wanted) else ""
    return PackError(without_login(what), f"{then}Nothing was written.")
