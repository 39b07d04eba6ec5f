"""n: a new hook, pack, plugin or module is asked for, seen as files, written, opened, selected."""
