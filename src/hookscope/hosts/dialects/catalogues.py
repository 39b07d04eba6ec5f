"""The data files beside the dialects: event catalogues, event sequences, and the demo."""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from hookscope.formats.yaml12 import read_own_yaml
from hookscope.model.event_catalogue import Catalogue, EventTypo, read_catalogue
from hookscope.model.event_typos import read_event_typos

DATA_FOLDER = Path(__file__).parent
# The folders of the examples, which stand for those of a machine.
EXAMPLE_WORKSPACE, EXAMPLE_STATE = "~/.openclaw/workspace", "~/.openclaw"


@cache
def catalogue(
    *names: str, others: tuple[tuple[str, str], ...] = (), hyphens: bool = True, version: str = ""
) -> Catalogue:
    """Return the catalogues in `<name>.yaml` of this folder as one; each is read on first use.

    `names`: exactly one for each kind of hook of the dialect, in the order of its systems. `others`:
    dialects of other versions, each with the name of its catalogue. `hyphens`: whether plugins may write
    hyphens in the names of their hooks. With a `version` of the host, events that it does not send are
    omitted. Without one, events of all later versions are included.
    """
    elsewhere = {dialect: partial(_read_catalogue_file, name) for dialect, name in others}
    return Catalogue.joined(
        *(partial(_read_catalogue_file, name, version) for name in names),
        other_versions=elsewhere,
        typos=mistaken_names,
        accepts_hyphens=hyphens,
    )


@cache
def mistaken_names() -> Mapping[str, EventTypo]:
    """Return names that authors mistake for events, by name."""
    return read_event_typos(read_data_file("mistaken_names"))


@cache
def _read_catalogue_file(name: str, version: str = "") -> Catalogue:
    found = read_catalogue(read_data_file(name))
    return Catalogue(
        (event.in_version(version) for event in found.events if event.is_sent_by(version)), found.own_renamed
    )


def read_data_file(name: str) -> bytes:
    """Return the bytes of `<name>.yaml` of this folder."""
    return (DATA_FOLDER / f"{name}.yaml").read_bytes()


def write_demo(folder: Path, *, typescript: bool) -> Path:
    """Write the files of `hookscope demo` below an empty folder; return its workspace. Raises OSError."""
    parts: Any = read_own_yaml(read_data_file("demo"))
    for name, text in {**parts["always"], **(parts["with_node"] if typescript else {})}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "workspace"
