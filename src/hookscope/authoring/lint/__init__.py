"""The linter: it reports mistakes in hooks and how to correct them. `rules` has one rule a file.

Never imports or runs a handler.
"""
