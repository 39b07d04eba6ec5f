"""Debug handlers from an editor: a server for the Debug Adapter Protocol. Imports no user code."""
