"""The command line: each command asks the workbench and renders the answer, as text or as JSON.

A command returns an Answer; it never prints, formats JSON or exits by itself. `--help` imports nothing
but click: commands are loaded when they are called. The console alone does without click too.
"""
