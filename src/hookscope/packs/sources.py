"""Fetches the package of a spec: a folder, an archive, a Python distribution, a git commit, or from npm."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from hookscope.model.regular_file import read_regular
from hookscope.model.text import one_line
from hookscope.packs.errors import PackError
from hookscope.packs.file_tree import FileTree, digest_of, read_archive, read_folder_tree
from hookscope.packs.package_checks import DEFAULT_LIMITS
from hookscope.packs.programs import ProgramExit, run_program
from hookscope.packs.specs import FetchedPackage, FetchOptions, PackageSpec, sha512_integrity, without_login

PUT_BACK = "Restore it, or name another one."


def fetch_package(spec: PackageSpec, options: FetchOptions) -> FetchedPackage:
    """Fetch the package that the spec names into the work folder. Blocks; raises PackError, PackCancelled."""
    match spec.source:
        case "folder":
            options.progress.step(f"reading {spec.text}")
            return _fetch_folder(spec)
        case "archive":
            options.progress.step(f"reading {spec.text}")
            return _fetch_archive(spec)
        case "npm":
            from hookscope.packs.npm import fetch_npm

            return fetch_npm(spec, options)
        case "git":
            return fetch_git(spec, options)
        case "python":
            return fetch_python(spec, options)


def _fetch_folder(spec: PackageSpec) -> FetchedPackage:
    assert spec.path is not None
    if not os.path.isdir(spec.path):
        raise PackError(f"The folder {spec.path} no longer exists.", PUT_BACK)
    tree = read_folder_tree(spec.path)
    return FetchedPackage(spec, tree, spec.text, tree_integrity(tree))


def _fetch_archive(spec: PackageSpec) -> FetchedPackage:
    assert spec.path is not None
    if not os.path.isfile(spec.path):
        raise PackError(f"The archive {spec.path} no longer exists.", PUT_BACK)
    source = read_regular(spec.path, DEFAULT_LIMITS.archive + 1)
    return FetchedPackage(spec, read_archive(source, spec.path.name), spec.text, sha512_integrity(source))


def tree_integrity(tree: FileTree) -> str:
    """Return an integrity value for files that came without one."""
    return f"files-{digest_of({path: file.digest for path, file in tree.files.items()})}"


ENTRY_POINT_GROUP = "hookscope.hooks"
# Runs in the interpreter with the package, 3.9 or newer. It looks up names and imports nothing.
FINDER_SCRIPT = """
import json, os, sys
from importlib.metadata import PackageNotFoundError, distribution
try:
    found = distribution(sys.argv[1])
except PackageNotFoundError:
    print(json.dumps(None))
    sys.exit()
places = []
for point in found.entry_points:
    if point.group == sys.argv[2]:
        parts = point.value.split(":")[0].strip().split(".")
        named = all(part.isidentifier() for part in parts)  # else it could lead anywhere
        folders = (os.path.join(base, *parts) for base in sys.path if base and named)
        places.append(next((folder for folder in folders if os.path.isdir(folder)), None))
print(json.dumps({"version": found.version, "places": places}))
"""


def fetch_python(spec: PackageSpec, options: FetchOptions) -> FetchedPackage:
    """Return the folder that a distribution's entry point names. Raises PackError, PackCancelled."""
    options.progress.step(f"looking for {spec.name} among the packages of {options.python}")
    ran = run_program(
        [options.python, "-c", FINDER_SCRIPT, spec.text.removeprefix("python:"), ENTRY_POINT_GROUP],
        options,
        cwd=options.work_folder,
        env=options.env,
    )
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        reason = one_line(ran.stderr.strip().rpartition("\n")[2]) or f"exit code {ran.code}"
        hint = "Set `python:` in .hookscope/config.yaml to another interpreter."
        raise PackError(f"{options.python} cannot list its packages: {reason}.", hint) from None
    if report is None:
        raise PackError(
            f"{options.python} has no package {spec.name} installed.",
            f"Run `{quote(str(options.python))} -m pip install {spec.name}`, or set `python:` in "
            ".hookscope/config.yaml to another interpreter.",
        )
    places = report["places"]
    if len(places) != 1:
        many = f"has {len(places)} entry points" if places else "has no entry point"
        raise PackError(f"{spec.name} {many} `{ENTRY_POINT_GROUP}`; exactly one must name its hooks.")
    if places[0] is None:
        what = f"The entry point `{ENTRY_POINT_GROUP}` of {spec.name} does not name a hooks folder."
        raise PackError(
            what, 'Example: `acme = "acme_hooks.hooks"`; the folder of that package is the hooks folder.'
        )
    tree = read_folder_tree(Path(os.path.realpath(places[0])))
    version = one_line(str(report["version"]))
    return FetchedPackage(
        spec, tree, f"{spec.name}=={version}", tree_integrity(tree), version, may_be_hook_folder=True
    )


SAFE_OPTIONS = (
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
)
SHORT_COMMIT = re.compile(r"[0-9a-f]{6,39}")  # perhaps a shortened commit
IGNORED_LINES = ("warning:", "hint:")
ALLOWED_PROTOCOLS = "https:ssh:file"
# Git sets these for its hooks. With them, our commands would use the repository of such a hook.
REPOSITORY_VARIABLES = frozenset(
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
CONFIGURATION_VARIABLES = frozenset({"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG"})
GIT_LIMITS = replace(DEFAULT_LIMITS, archive=DEFAULT_LIMITS.total)  # `git archive` does not compress


def fetch_git(spec: PackageSpec, options: FetchOptions) -> FetchedPackage:
    """Return the files of one commit. Raises PackError, PackCancelled."""
    options.progress.step(f"fetching {without_login(spec.url)} with git")
    _run_git(["init", "--quiet", "--bare", "repository"], options, without_user_config=True)
    revision = spec.revision or "HEAD"
    words = [
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--",
        spec.url,
        revision,
    ]
    ran = _run_git(words, options, in_repository=True)
    if ran.code != 0:
        raise _git_error(spec, ran)
    commit = _run_git(
        ["rev-parse", "FETCH_HEAD"], options, without_user_config=True, in_repository=True
    ).stdout.strip()
    options.progress.step("unpacking")
    archive = options.work_folder / "files.tar"
    ran = _run_git(
        ["archive", "--format=tar", f"--output={archive}", "FETCH_HEAD"],
        options,
        without_user_config=True,
        in_repository=True,
    )
    if ran.code != 0:
        raise _git_error(spec, ran)
    with archive.open("rb") as file:
        source = file.read(GIT_LIMITS.archive + 1)
    tree = read_archive(source, "files.tar", GIT_LIMITS)
    return FetchedPackage(spec, tree, commit, f"git-{commit}", commit[:12])


def _run_git(
    words: Sequence[str],
    options: FetchOptions,
    *,
    without_user_config: bool = False,
    in_repository: bool = False,
) -> ProgramExit:
    """Run git. `without_user_config` ignores the user's configuration, which only fetching needs."""
    removed = REPOSITORY_VARIABLES | (CONFIGURATION_VARIABLES if without_user_config else frozenset())
    env = {name: value for name, value in options.env.items() if name not in removed}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": ALLOWED_PROTOCOLS, "GIT_LFS_SKIP_SMUDGE": "1"}
    env["GIT_NO_LAZY_FETCH"] = "1"  # a local repository could name a program for that
    env.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")
    env["GIT_ASKPASS"] = env["SSH_ASKPASS"] = "true"  # a program without output
    if without_user_config:
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    where = ("--git-dir", str(options.work_folder / "repository")) if in_repository else ()
    return run_program(["git", *SAFE_OPTIONS, *where, *words], options, cwd=options.work_folder, env=env)


def _git_error(spec: PackageSpec, ran: ProgramExit) -> PackError:
    lines = [line for line in ran.stderr.splitlines() if line.strip() and not line.startswith(IGNORED_LINES)]
    first = lines[0] if lines else f"exit code {ran.code}"  # perhaps a line of ssh
    reason = one_line(first.removeprefix("fatal:").removeprefix("error:"))
    wanted = f" at {spec.revision}" if spec.revision else ""
    what = f"git cannot fetch {spec.url}{wanted}: {reason.rstrip('.')}."
    hint = "Name a commit by all of its 40 digits. " if SHORT_COMMIT.fullmatch(spec.revision) else ""
    return PackError(without_login(what), f"{hint}Nothing was written.")
