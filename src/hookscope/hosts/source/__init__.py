"""A handler's source as facts: what it reads, starts, writes and compares. Nothing is imported or run."""
