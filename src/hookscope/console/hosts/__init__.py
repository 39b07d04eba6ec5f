"""Mode 4: the same hooks under several hosts."""
