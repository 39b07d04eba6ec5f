"""What is wrong with hooks and how to correct it: one rule a file, with its documentation, example and check.

Never imports or runs a handler.
"""
