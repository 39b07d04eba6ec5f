"""What all workers of a lane have in common."""

from __future__ import annotations

from collections.abc import Callable

from hookscope.core.runs import Code
from hookscope.runtime.contents import Contents
from hookscope.runtime.ledger import Ledger
from hookscope.runtime.limits import Limits
from hookscope.runtime.python_worker.protocol import Message
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """One for all seats of a lane."""

    limits: Limits
    ledger: Ledger
    contents: Contents
    news: list[str]  # what happened since the last result, said with the next one
    told_late: Callable[[str, str], None] | None = None  # hears between two batches what comes late
    dump: int = 0  # the signal at which a worker of this language prints its stack; 0: there is none

    def learn(self, code: Code, message: Message) -> None:
        """Note which files outside of its folder a worker says that a handler's import has reached."""
        files = message.get("files")
        if isinstance(files, list):
            self.contents.learn(code, map(str, files))
