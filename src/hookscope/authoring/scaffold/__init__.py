"""New hooks, packs, plugins and modules: a request, the files for it, written as one undoable change.

Never overwrites a file.
"""
