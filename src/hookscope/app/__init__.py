"""One open host: the Workbench with its options, snapshots and edits. No screens, no text output."""
