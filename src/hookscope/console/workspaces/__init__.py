"""Other workspaces in the same console."""
