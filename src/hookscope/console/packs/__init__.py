"""I: the packs of this host, what stands in them, and install, update, remove with everything shown first."""
