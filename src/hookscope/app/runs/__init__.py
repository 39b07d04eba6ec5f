"""Worker pools, active and recorded runs, and activation chains. No screens, no text output."""
