"""Dialogs over the panes. A dialog returns an answer; it writes nothing itself."""
