"""The Log pane: everything that happened in this sitting, as it happens."""
