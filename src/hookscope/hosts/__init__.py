"""Hook systems of hosts, and dialects.

Runs no handler and writes nothing; only `dialects` names a host.
"""
