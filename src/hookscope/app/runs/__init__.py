"""Runs of the workbench: worker pools, active and recorded runs, and how far a hook's activation has come.

No screens, no text output.
"""
