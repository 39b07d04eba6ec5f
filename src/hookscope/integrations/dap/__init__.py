"""Debug handlers from an editor, with the Debug Adapter Protocol. Imports no user code."""
