"""Host settings read, and a Host opened on them.

Reads; never writes. A settings file that cannot be read is a problem with its line. The host opens as if it
were empty, and no hook passes its `settings` check, since the file might switch off any of them.
"""

from hookscope.settings.opening import open_host
from hookscope.settings.reading import read_settings, settings_from, settings_of

__all__ = ["open_host", "read_settings", "settings_from", "settings_of"]
