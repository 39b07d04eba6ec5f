"""Widgets that several panes and dialogs use, and the overrides of Textual's painting.

A widget knows no pane.
"""
