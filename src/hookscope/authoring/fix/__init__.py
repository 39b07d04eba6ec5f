"""Fixes for failed gates and lint findings: previewed, written as one undoable change.

A fix never runs a handler and never writes by itself.
"""
