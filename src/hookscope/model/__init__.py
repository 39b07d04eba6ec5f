"""Events, hooks, gates, plans, runs, hosts and the machine.

Frozen types and pure functions; nothing here runs a handler or writes a file.
"""
