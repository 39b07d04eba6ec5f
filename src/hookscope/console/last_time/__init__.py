"""What the console shows, left for its next start in the same workspace."""
