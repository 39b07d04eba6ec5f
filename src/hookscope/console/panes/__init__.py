"""The panes of the main screen and the texts they show.

A pane reads the state and posts messages; it never calls the workbench.
"""
