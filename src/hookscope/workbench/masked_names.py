"""`mask:` of a configuration, the project's or the user's own: names whose values are masked."""

MASK = "mask"


def names_in(listed: object) -> tuple[str, ...]:
    """A list of names, or one name; nothing for anything else."""
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        return ()
    return tuple(name.strip() for name in names)
