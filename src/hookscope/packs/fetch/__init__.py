"""The sources of packages: folders, archives, npm, Python distributions and git.

Each source returns a FileTree; none runs package code.
"""
