"""What is on the screen, as text and as JSON: to be copied, or written to a file."""
