"""The panes and their texts. A pane reads the state and posts messages; it never calls the workbench."""
