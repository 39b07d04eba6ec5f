"""New hooks, packs, plugins and modules, written as one undoable change. Never overwrites a file."""
