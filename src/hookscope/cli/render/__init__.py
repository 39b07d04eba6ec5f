"""The text and JSON of every answer. Never here: click, questions, reading of files."""
