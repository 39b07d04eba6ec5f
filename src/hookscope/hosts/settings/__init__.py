"""Reads a host's settings, and opens a Host with them.

Never writes. A settings file that cannot be read is a problem with its line. The host opens as if
it were empty, and no hook passes its `settings` gate, since the file might disable any of them.
"""

from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import given_settings, parse_settings, read_settings

__all__ = ["given_settings", "open_host", "parse_settings", "read_settings"]
