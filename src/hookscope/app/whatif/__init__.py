"""What-if sources: another platform, environment or home than this machine's.

Reads only; never writes, never starts what it reads about.
"""
