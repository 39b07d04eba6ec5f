"""Reads a host's settings, and opens a Host with them.

Never writes. If the settings file cannot be read, the host has a problem with file and line, and opens as
if the file were empty. No hook passes its `settings` gate then, because the file might disable any hook.
"""

from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import given_settings, parse_settings, read_settings

__all__ = ["given_settings", "open_host", "parse_settings", "read_settings"]
