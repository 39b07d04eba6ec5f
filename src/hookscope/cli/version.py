"""Which Hookscope this is."""


def version() -> str:
    """As it is installed; run from its sources alone, it has none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hookscope")
    except PackageNotFoundError:
        return "of no version"
