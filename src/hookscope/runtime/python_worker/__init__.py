"""The program that runs Python handlers in a process of its own, and modules that the host uses too.

The files need the standard library only, and run on Python 3.9, since `python:` in `.hookscope/config.yaml`
may name an older interpreter. They import each other relatively: the worker loads them as a package of its
own.
"""


def warm_up_handler(event: object) -> None:
    """Do nothing. The worker runs this file as a handler once, so that the first real call is fast."""
