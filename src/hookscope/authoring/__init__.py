"""Work on hooks: lint, fix, scaffold and test. Takes a Workbench; has no screens and no text output."""
