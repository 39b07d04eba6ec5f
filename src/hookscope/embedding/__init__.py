"""The library and the plugin API for Python programs that embed Hookscope.

Never here: settings of hosts, screens, output.
"""
