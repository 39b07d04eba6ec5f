"""The bar that assumes other surroundings, and the strip that says so."""
