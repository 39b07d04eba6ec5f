"""The tap: a small hook in a host's own folder that records real events in a spool file; and its reader.

Files of other programs are never changed.
"""
