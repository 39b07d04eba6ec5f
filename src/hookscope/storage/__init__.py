"""Everything that Hookscope writes: the journal, edits of users' files, trust and state files.

Nothing here runs a hook or needs a Workbench.
"""
