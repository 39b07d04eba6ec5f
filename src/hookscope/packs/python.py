"""Installed Python packages that carry hooks: entry points `hookscope.hooks`. None is imported."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shlex import quote

from hookscope.core.text import one_line
from hookscope.packs.errors import PackError
from hookscope.packs.fetched import Fetched, Fetching
from hookscope.packs.folders import read_folder
from hookscope.packs.programs import run
from hookscope.packs.sources import integrity_of_tree
from hookscope.packs.specs import Spec

GROUP = "hookscope.hooks"
# For the interpreter whose packages are meant, 3.9 or newer: names are looked up, nothing is imported.
FINDER = """
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


def fetch_python(spec: Spec, how: Fetching) -> Fetched:
    """The folder that a distribution's entry point names. Raises PackError, Cancelled."""
    how.progress.step(f"looking for {spec.name} among the packages of {how.python}")
    ran = run(
        [how.python, "-c", FINDER, spec.text.removeprefix("python:"), GROUP],
        how,
        cwd=how.work,
        env=how.env,
    )
    try:
        told = json.loads(ran.out)
    except ValueError:
        said = one_line(ran.err.strip().rpartition("\n")[2]) or f"it ended with {ran.code}"
        then = "`python:` in .hookscope/config.yaml names another interpreter."
        raise PackError(f"{how.python} cannot list its packages: {said}.", then) from None
    if told is None:
        raise PackError(
            f"{how.python} has no package {spec.name} installed.",
            f"`{quote(str(how.python))} -m pip install {spec.name}` installs it; `python:` in "
            ".hookscope/config.yaml names another interpreter.",
        )
    places = told["places"]
    if len(places) != 1:
        many = f"has {len(places)} entry points" if places else "has no entry point"
        raise PackError(f"{spec.name} {many} `{GROUP}`; one names the package with its hooks.")
    if places[0] is None:
        what = f"The entry point `{GROUP}` of {spec.name} names no folder of hooks."
        raise PackError(
            what, 'In its pyproject.toml that is `acme = "acme_hooks.hooks"`, a package with the folder.'
        )
    tree = read_folder(Path(os.path.realpath(places[0])))
    version = one_line(str(told["version"]))
    return Fetched(spec, tree, f"{spec.name}=={version}", integrity_of_tree(tree), version, side_by_side=True)
