"""The library and the plugin API for Python programs that embed Hookscope.

No host settings files, screens or output here.
"""
