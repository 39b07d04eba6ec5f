"""One host opened: the Workbench that scans, plans and fires, its options, snapshots and edits.

Never here: a screen, text output, or what is built on a Workbench.
"""
