"""Work on hooks: lint, fix, scaffold and test them.

Functions that take a Workbench; no screens, no text output.
"""
