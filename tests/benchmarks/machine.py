"""What the figures were taken on: without that they say nothing."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from shutil import which

from hookscope.runtime.executors import Node, find_node

PEERS = ("textual", "pyyaml", "watchfiles", "pluggy", "blinker", "pyee", "json5", "json-five")


def machine() -> dict[str, object]:
    """Cores, processor, system, Python, Node, versions of what stands beside, and the day."""
    node = find_node(which("node"))
    return {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "cpu": _processor(),
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "node": node.version if isinstance(node, Node) else None,
        "packages": {name: found for name in PEERS if (found := _version(name))},
    }


def line(facts: Mapping[str, object]) -> str:
    """The machine in one sentence."""
    node = f"Node {facts['node']}" if facts["node"] else "no Node"
    return (
        f"{facts['date']}: {facts['cores']} cores ({facts['cpu']}), {facts['os']}, "
        f"Python {facts['python']}, {node}"
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(text.partition(":")[2].strip() for text in lines if text.startswith("model name"))
    except (OSError, StopIteration):
        pass
    if sys.platform == "darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
