"""The program that runs Python handlers in its own process, and modules that the host uses too.

The files need only the standard library, and run on Python 3.9, because `python:` in `.hookscope/config.yaml`
may name an older interpreter. They use relative imports, because the worker loads them as a package.
"""


def warm_up_handler(event: object) -> None:
    """Do nothing. The worker runs this file as a handler once, so that the first real call is fast."""
