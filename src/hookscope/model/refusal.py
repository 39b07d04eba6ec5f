"""Refusal.

an action that Hookscope cannot do, as one sentence that says why and one that says what to do next.
"""


class Refusal(Exception):
    """A user's mistake, or a thing that cannot be: one sentence that names it, one with the next step.

    `code` is the exit code of a command that ends with it: 1, the answer is no; 2, wrong use.
    """

    def __init__(self, what: str, then: str = "", *, code: int = 1) -> None:
        super().__init__(f"{what} {then}".strip())
        self.what = what
        self.then = then
        self.code = code


class Outdated(Refusal):
    """What was to be written no longer fits what is there: whoever looks again may make it anew."""
