"""A handler line by line: the screen that shows where it stands, and who opens and closes that."""
