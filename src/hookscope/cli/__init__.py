"""The command line: commands/ holds one command a file, render/ the text and JSON of answers."""
