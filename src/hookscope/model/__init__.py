"""The nouns of the program: events, hooks, gates, plans, runs, hosts, the machine.

Frozen types and pure functions; nothing here runs a handler or writes a file.
"""
