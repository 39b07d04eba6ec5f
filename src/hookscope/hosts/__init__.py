"""Hook systems of hosts, and dialects. Runs no handler, writes nothing; only `dialects` names a host."""
