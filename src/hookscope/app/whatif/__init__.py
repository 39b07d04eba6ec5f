"""What-ifs: a platform, environment or home other than this machine's.

Reads only; never writes, and never starts the service or process it reads about.
"""
