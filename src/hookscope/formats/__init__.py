"""Parsers: the bytes of files that people write in, plain Python data or one FormatError out.

What always holds:

- A reader takes any bytes. It returns plain data or raises FormatError, and nothing else.
- Each reader has a partner `locate_…(source, path)` that parses again and locates one value. Files
  are read often; positions are needed only for the one value that is shown or changed.
- Offsets count characters of `text_of(source)`: the whole file with its byte order mark and line
  endings.
- Nothing here touches a disk, runs what it reads, or knows a host, its file names or its settings.

Readers are imported on first use, so locating a value does not load the YAML reader.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.formats.environment_files import read_dotenv
    from hookscope.formats.frontmatter import (
        LARGEST_HEADER,
        MarkdownHeader,
        cut_header,
        head_of,
        locate_frontmatter,
        read_frontmatter,
        repair_mojibake,
    )
    from hookscope.formats.json5 import LARGEST_JSON5, Json5Places, locate_json5, read_json5
    from hookscope.formats.plugin_source import plugin_registrations
    from hookscope.formats.positions import FormatError, KeyPath, Span, span_at, text_of
    from hookscope.formats.python_source import Export, read_exports
    from hookscope.formats.registrations import PluginRegistration, PluginRegistrations
    from hookscope.formats.script_source import DefaultExport, check_brackets, unusable_default_export
    from hookscope.formats.script_tokens import LONGEST_SCRIPT, Token, TokenizedScript, read_script
    from hookscope.formats.script_values import script_number, script_text, script_trim
    from hookscope.formats.subscriptions import agent_description, stream_events
    from hookscope.formats.text_header import header_block, read_text_header
    from hookscope.formats.yaml12 import locate_yaml, read_own_yaml, read_yaml

_HOMES = {
    "DefaultExport": "script_source",
    "Export": "python_source",
    "FormatError": "positions",
    "Json5Places": "json5",
    "KeyPath": "positions",
    "LARGEST_HEADER": "frontmatter",
    "LARGEST_JSON5": "json5",
    "LONGEST_SCRIPT": "script_tokens",
    "MarkdownHeader": "frontmatter",
    "PluginRegistration": "registrations",
    "PluginRegistrations": "registrations",
    "Span": "positions",
    "Token": "script_tokens",
    "TokenizedScript": "script_tokens",
    "agent_description": "subscriptions",
    "check_brackets": "script_source",
    "cut_header": "frontmatter",
    "head_of": "frontmatter",
    "header_block": "text_header",
    "locate_frontmatter": "frontmatter",
    "locate_json5": "json5",
    "locate_yaml": "yaml12",
    "plugin_registrations": "plugin_source",
    "read_dotenv": "environment_files",
    "read_exports": "python_source",
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
    "span_at": "positions",
    "stream_events": "subscriptions",
    "text_of": "positions",
    "unusable_default_export": "script_source",
}

__all__ = [
    "LARGEST_HEADER",
    "LARGEST_JSON5",
    "LONGEST_SCRIPT",
    "DefaultExport",
    "Export",
    "FormatError",
    "Json5Places",
    "KeyPath",
    "MarkdownHeader",
    "PluginRegistration",
    "PluginRegistrations",
    "Span",
    "Token",
    "TokenizedScript",
    "agent_description",
    "check_brackets",
    "cut_header",
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
    "unusable_default_export",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found
