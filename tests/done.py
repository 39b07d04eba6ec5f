"""What a command line has said, however it was run."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """Its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)
