"""Facts of a handler's source: what it reads, starts, writes and compares. Nothing is imported or run."""
