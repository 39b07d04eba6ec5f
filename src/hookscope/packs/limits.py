"""How much of a stranger's package is read. What counts is what really comes out, whatever headers say."""

from hookscope.values import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PackLimits:
    """Far more than hooks need, and nothing that hurts a machine."""

    archive: int = 32 * MIB  # bytes of the archive itself
    total: int = 96 * MIB  # bytes of all files
    file: int = 16 * MIB  # bytes of one file
    entries: int = 5_000
    depth: int = 24  # folders below one another
    name: int = 200  # bytes of one name; file systems hold 255
    path: int = 1_000  # bytes of a path
    ratio: int = 150  # unpacked to packed,
    ratio_from: int = 4 * MIB  # once so much is unpacked: short texts may well be squeezed further


LIMITS = PackLimits()


def size_in_words(size: int) -> str:
    """`12 bytes`, `3.4 KiB`, `16 MiB`."""
    if size < 1024:
        return f"{size:,} bytes"
    value, unit = (size / 1024, "KiB") if size < MIB else (size / MIB, "MiB")
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"
