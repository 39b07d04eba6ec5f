"""Handlers debugged from an editor, which speaks the Debug Adapter Protocol over our streams.

One session for a process: an editor starts it, names an event to fire, and goes through the handlers that
the event calls. They run in workers, as ever; no code of theirs is imported here.
"""
