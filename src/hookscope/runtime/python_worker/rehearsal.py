"""A handler that does nothing, run before anybody waits: its path through the worker is warm then."""


def handler(event: object) -> None:
    """Return."""
