"""The linter: reports mistakes in hooks; `rules` has one rule a file. Never imports or runs a handler."""
