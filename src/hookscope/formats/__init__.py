"""Bytes of the files that people write, in; plain Python data, or one FormatError that knows its place, out.

What always holds:

- A reader takes any bytes. It returns plain data or raises FormatError, and nothing else.
- Each reader has a partner `locate_…(source, path)` that parses again and says where one value stands.
  Reading is for every file, often; a place is for the one value that somebody wants to see or to change.
- Offsets count characters of `text_of(source)`, the whole file with its byte order mark and line endings.
- Nothing here touches a disk, runs what it reads, or knows a host, its file names or its settings.

Readers are loaded when they are used: who asks for a place only needs no YAML.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent_source import agent_description
    from .dotenv import read_dotenv
    from .frontmatter import (
        LARGEST_HEADER,
        Header,
        cut_header,
        head_of,
        locate_frontmatter,
        read_frontmatter,
        repair_mojibake,
    )
    from .json5 import LARGEST_JSON5, read_json5
    from .json5_places import Json5Places, locate_json5
    from .listening import plugin_registrations, stream_events
    from .listening_types import PluginRegistration
    from .places import FormatError, KeyPath, Span, span_at, text_of
    from .python_source import Export, read_exports
    from .script_balance import check_brackets
    from .script_default import DefaultExport, default_that_is_none
    from .script_tokens import LONGEST, Script, Token, read_script
    from .script_values import script_number, script_text, script_trim
    from .text_header import header_block, read_text_header
    from .yaml12 import locate_yaml, read_own_yaml, read_yaml

_HOMES = {
    "LARGEST_HEADER": "frontmatter",
    "LARGEST_JSON5": "json5",
    "LONGEST": "script_tokens",
    "DefaultExport": "script_default",
    "Export": "python_source",
    "FormatError": "places",
    "Header": "frontmatter",
    "Json5Places": "json5_places",
    "KeyPath": "places",
    "PluginRegistration": "listening_types",
    "Script": "script_tokens",
    "Span": "places",
    "Token": "script_tokens",
    "agent_description": "agent_source",
    "cut_header": "frontmatter",
    "default_that_is_none": "script_default",
    "head_of": "frontmatter",
    "header_block": "text_header",
    "locate_frontmatter": "frontmatter",
    "locate_json5": "json5_places",
    "locate_yaml": "yaml12",
    "plugin_registrations": "listening",
    "read_dotenv": "dotenv",
    "read_exports": "python_source",
    "check_brackets": "script_balance",
    "read_frontmatter": "frontmatter",
    "read_json5": "json5",
    "read_own_yaml": "yaml12",
    "read_script": "script_tokens",
    "read_text_header": "text_header",
    "read_yaml": "yaml12",
    "repair_mojibake": "frontmatter",
    "script_number": "script_values",
    "script_text": "script_values",
    "script_trim": "script_values",
    "span_at": "places",
    "stream_events": "listening",
    "text_of": "places",
}

__all__ = [
    "LARGEST_HEADER",
    "LARGEST_JSON5",
    "LONGEST",
    "DefaultExport",
    "Export",
    "FormatError",
    "Header",
    "Json5Places",
    "KeyPath",
    "PluginRegistration",
    "Script",
    "Span",
    "Token",
    "agent_description",
    "check_brackets",
    "cut_header",
    "default_that_is_none",
    "head_of",
    "header_block",
    "locate_frontmatter",
    "locate_json5",
    "locate_yaml",
    "plugin_registrations",
    "read_dotenv",
    "read_exports",
    "read_frontmatter",
    "read_json5",
    "read_own_yaml",
    "read_script",
    "read_text_header",
    "read_yaml",
    "repair_mojibake",
    "script_number",
    "script_text",
    "script_trim",
    "span_at",
    "stream_events",
    "text_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found
