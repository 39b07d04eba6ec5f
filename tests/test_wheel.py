"""What a user installs: the built wheel, in an environment with nothing else in it."""

import json
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).parent.parent


def test_the_wheel_runs_in_an_empty_environment(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*build, str(PROJECT)], check=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("hookscope-*.whl")
    environment = tmp_path / "empty"
    venv.create(environment)
    # From outside, and compiled as it is imported: a pip of its own and all of Textual were most of the cost.
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(environment),
        "install",
        "--quiet",
        "--no-compile",
    ]
    subprocess.run([*install, str(wheel)], check=True, cwd=tmp_path)
    listed = subprocess.run(
        [environment / "bin" / "hookscope", "list", "--json"],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        env={"HOME": str(tmp_path / "home"), "PATH": ""},
    )
    document = json.loads(listed.stdout)
    logger = next(hook for hook in document["hooks"] if hook["name"] == "command-logger")
    assert (logger["source"], logger["state"]) == ("bundled", "ready")
    assert Path(logger["path"]).is_relative_to(environment)
