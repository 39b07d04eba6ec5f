"""The library and plugin API for programs that embed Hookscope. No settings files, screens or output."""
