"""The command line: each file in commands/ has one command or a family; render/ makes the text of answers."""
