"""Packs: install, update and remove hook packages.

A package is read in memory, checked as a whole, and put in place in one transaction. Never executes package
code, and never overwrites changed files without consent.
"""
