"""The text and JSON of every answer. These modules ask no questions and define no commands."""
