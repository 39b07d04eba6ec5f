"""Widgets for several panes and dialogs, which depend on no pane, and overrides of Textual's painting."""
