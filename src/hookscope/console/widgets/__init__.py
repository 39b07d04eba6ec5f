"""Widgets that several panes and dialogs use, and the overrides of Textual's painting.

No widget depends on a pane.
"""
