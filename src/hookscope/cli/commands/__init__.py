"""One command a file: its options, and the Answer it returns. Never here: printing, layout of text."""
