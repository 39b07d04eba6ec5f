"""Comparison of hosts, orders and machines, and searches for failing events.

Functions that take a Workbench; no screens, no text output.
"""
