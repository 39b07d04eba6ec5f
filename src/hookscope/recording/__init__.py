"""The tap: a small hook in a host's own folder that records every real event in a spool file.

And reading the spool.

Never changes files that are not Hookscope's.
"""
