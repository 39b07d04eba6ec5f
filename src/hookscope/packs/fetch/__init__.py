"""Where packages come from: folders, archives, npm, Python distributions and git.

Each source gives a FileTree; none runs package code.
"""
