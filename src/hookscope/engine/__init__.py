"""From files to runs: discover hooks, check their gates, plan, load, fire.

Never names a host and never writes a file.
"""
