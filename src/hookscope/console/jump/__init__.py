"""Jump mode: a letter on everything that can be gone to."""
