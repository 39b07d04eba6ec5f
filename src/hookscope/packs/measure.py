"""Counting what is unpacked, while it is."""

from __future__ import annotations

from hookscope.packs.limits import PackLimits, size_in_words
from hookscope.packs.names import refused, shown
from hookscope.values import dataclass


@dataclass(slots=True)
class Measure:
    """Raises PackError as soon as it is too much. Lives as long as one package is read."""

    limits: PackLimits
    packed: int  # bytes of the archive; 0: it is not packed
    total: int = 0
    of_file: int = 0
    name: str = ""

    def begin(self, name: str) -> None:
        """From here on bytes are counted for this file, and for all together."""
        self.name, self.of_file = name, 0

    def count(self, size: int) -> None:
        """So many more bytes have come out of it. Raises PackError where a limit is passed."""
        limits = self.limits
        self.of_file += size
        self.total += size
        if self.of_file > limits.file:
            raise refused(f"{shown(self.name)} is larger than {size_in_words(limits.file)} unpacked.")
        check_total(self.total, self.packed, limits)


def check_total(total: int, packed: int, limits: PackLimits) -> None:
    """Raises PackError where all that was unpacked is too much, or far more than was packed."""
    if total > limits.total:
        raise refused(f"It holds more than {size_in_words(limits.total)} unpacked.")
    if packed and total > limits.ratio_from and total > packed * limits.ratio:
        raise refused(f"It unpacks to more than {limits.ratio} times its size: a bomb.")
