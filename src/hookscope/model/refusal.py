"""An action that Hookscope refuses: one sentence on the problem, one on the next step."""


class Refusal(Exception):
    """A user's mistake or an impossible request: the problem and the next step, a sentence each.

    `code` is the exit code of the command: 1 for a negative answer, 2 for wrong use.
    """

    def __init__(self, problem: str, next_step: str = "", *, code: int = 1) -> None:
        super().__init__(f"{problem} {next_step}".strip())
        self.problem = problem
        self.next_step = next_step
        self.code = code


class Outdated(Refusal):
    """The file has changed since the change was computed; computing it again may succeed."""
