"""The console's state, its messages, rows and entries. No widgets and no calls of the workbench."""
