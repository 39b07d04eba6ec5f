"""The program that runs Python handlers in a process of its own, and what it shares with the host.

Every file here stands alone: the standard library only, the syntax of Python 3.9, since `python:` in
`.hookscope/config.yaml` may choose an older interpreter. The worker loads its neighbours by path;
the host imports them as usual.
"""
