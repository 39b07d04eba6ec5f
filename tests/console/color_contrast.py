"""Color contrast, and how different two colors look to color-blind people. Only tests use it."""

from __future__ import annotations

from typing import Literal, TypeAlias

Rgb: TypeAlias = tuple[float, float, float]
Sight: TypeAlias = Literal["usual", "protanopia", "deuteranopia", "tritanopia"]

# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear light.
MISSING: dict[Sight, tuple[Rgb, Rgb, Rgb]] = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
WHITE = (0.95047, 1.0, 1.08883)  # D65


def rgb(colour: str) -> Rgb:
    """Return `#rrggbb` as values from 0 to 1."""
    digits = colour.lstrip("#")
    return int(digits[:2], 16) / 255, int(digits[2:4], 16) / 255, int(digits[4:6], 16) / 255


def over(colour: Rgb, below: Rgb, share: float) -> Rgb:
    """Return a color blended over another one with the opacity `share`."""
    red, green, blue = (top * share + under * (1 - share) for top, under in zip(colour, below, strict=True))
    return red, green, blue


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the WCAG 2 contrast ratio: from 1, equal, to 21, black on white."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def apart(one: Rgb, other: Rgb, sight: Sight = "usual") -> float:
    """Return the distance in CIE L*a*b*: 2 is barely visible side by side, 20 is obvious at a glance."""
    first, second = _lab(_seen(one, sight)), _lab(_seen(other, sight))
    return float(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5)


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def _luminance(colour: Rgb) -> float:
    red, green, blue = map(_linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _seen(colour: Rgb, sight: Sight) -> Rgb:
    """Return the light that such an eye perceives, linear."""
    light = tuple(map(_linear, colour))
    red, green, blue = (
        min(1.0, max(0.0, sum(share * part for share, part in zip(row, light, strict=True))))
        for row in MISSING[sight]
    )
    return red, green, blue


def _lab(linear: Rgb) -> Rgb:
    red, green, blue = linear
    xyz = (
        0.4124 * red + 0.3576 * green + 0.1805 * blue,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        0.0193 * red + 0.1192 * green + 0.9505 * blue,
    )
    x, y, z = (_root(part / white) for part, white in zip(xyz, WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return float(share ** (1 / 3)) if share > 0.008856 else 7.787 * share + 16 / 116
