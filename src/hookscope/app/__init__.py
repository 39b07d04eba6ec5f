"""One open host: the Workbench, which scans, plans and fires, with its options, snapshots and edits.

No screens, no text output.
"""
