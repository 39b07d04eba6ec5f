"""What-if sources: another platform, environment or home than this machine's.

Reads only; never writes, and never starts the service or process it reads about.
"""
