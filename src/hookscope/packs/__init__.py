"""Packs: install, update and remove hook packages.

A package is read in memory, checked as a whole, and installed in one transaction. Package code is never
executed, and changed files are never overwritten without consent.
"""
