"""Runs of the workbench: worker pools, active and recorded runs, and the activation chain of a hook.

No screens, no text output.
"""
