"""The files of `hookscope demo`, from the YAML file of the same name."""

from pathlib import Path
from typing import Any

from hookscope.formats.yaml12 import read_own_yaml
from hookscope.hosts.dialects.catalogues import read_data_file


def write_demo(folder: Path, *, typescript: bool) -> Path:
    """Write the demo below an empty folder; return its workspace. Raises OSError."""
    parts: Any = read_own_yaml(read_data_file("openclaw_demo"))
    for name, text in {**parts["always"], **(parts["with_node"] if typescript else {})}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "workspace"
