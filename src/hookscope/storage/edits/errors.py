"""Errors of edits to users' files. Unless the message says otherwise, nothing was written."""


class ChangeError(Exception):
    """What every refusal of this room is."""


class CannotEdit(ChangeError):
    """The text cannot be edited with certainty. `line` is what its user can write by hand, if any."""

    def __init__(self, problem: str, line: str = "") -> None:
        super().__init__(problem, line)  # both, so that a copy or a pickle can be made from `args`
        self.problem = problem
        self.line = line

    def __str__(self) -> str:
        return f"{self.problem}. By hand: `{self.line}`" if self.line else f"{self.problem}."


class Stale(ChangeError):
    """The file is no longer what it was when the change was made. Look again and ask again."""


class CannotWrite(ChangeError):
    """The system does not allow it: which file, why, and the next step."""
