"""Variants measured in turn, how their medians stand beside each other, and whether that is as wanted.

All variants of a group are measured once in every round, so that a busy machine slows all of them alike:
trust the ratios. A target is a ratio wherever time is meant, since absolute times are the machine's.
"""

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["s", "bytes"]
Part: TypeAlias = Literal["median", "p95"]
Samples: TypeAlias = Mapping[str, Sequence[float]]

ROUNDS = 15
RESTLESS = 0.3  # a floor that is spread wider than this tells of the machine; the group is measured again


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to do the work.

    `sample` does it and gives what it took in `unit`; it times only what counts. None: it cannot be measured
    here, and `missing` says why.
    """

    name: str
    sample: Callable[[], float] | None
    times: int = 1  # samples in each round
    unit: Unit = "s"
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What one variant may take: `most` times another, or (no `beside`) in its own unit.

    The ratio is the median of the rounds' own: within one both meet the same machine, which may be twice as
    fast a second later.

    `within` names a variant that is a part of ours. Where that part alone takes more than it all may, the
    machine has decided, and we are not judged.
    """

    ours: str
    most: float
    beside: str = ""
    part: Part = "median"  # of ours; of the other it is the median
    within: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """What is measured in one interleaved run.

    `open` makes the world below an empty folder, gives its variants, and takes all away again.
    """

    name: str
    title: str
    open: Callable[[Path], AbstractContextManager[Sequence[Variant]]]
    floor: str  # the variant whose spread is the machine's
    targets: tuple[Target, ...] = ()
    rounds: int | None = None  # in place of what is asked for: for groups whose variants differ much
    only_named: bool = False  # takes minutes: runs when its name is given


@dataclass(frozen=True, slots=True)
class Answer:
    """A target, and what was measured. `value` and `met` are None where one of the two is missing."""

    target: Target
    value: float | None
    met: bool | None
    counts: bool  # the exit code hangs on it: absolute times are told only
    least: float | None = None  # what the part within ours takes alone, where that is too much


@dataclass(frozen=True, slots=True)
class Figures:
    """What one group came to."""

    group: Group
    variants: tuple[Variant, ...]
    samples: Samples
    load: float  # load average when it began
    repeated: bool = False  # the floor was restless; this is the calmer of two
    answers: tuple[Answer, ...] = field(default=())


# Statistics


def part_of(samples: Sequence[float], part: Part) -> float:
    """The median, or the value that 95 of 100 samples do not exceed."""
    if part == "median" or len(samples) == 1:
        return median(samples)
    return quantiles(samples, n=20, method="inclusive")[-1]


def spread(samples: Sequence[float]) -> float:
    """How wide the middle half is, as a part of the median; 0 for less than two samples."""
    if len(samples) < 2 or not median(samples):
        return 0.0
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return (high - low) / median(samples)


def by_round(samples: Sequence[float], times: int) -> list[float]:
    """The median of each round, which has so many samples."""
    return [median(samples[at : at + times]) for at in range(0, len(samples), times)]


def answered(target: Target, variants: Sequence[Variant], samples: Samples) -> Answer:
    """Does what was measured reach the target. Raises KeyError for a name that no variant has."""
    units = {variant.name: variant.unit for variant in variants}
    times = {variant.name: variant.times for variant in variants}
    counts = bool(target.beside) or units[target.ours] != "s"
    names = (target.ours, target.beside) if target.beside else (target.ours,)
    if unknown := {*names, target.within or target.ours} - units.keys():
        raise KeyError(unknown.pop())
    if not all(samples.get(name) for name in names):
        return Answer(target, None, None, counts)

    def taken(name: str) -> float:
        if not target.beside:
            return part_of(samples[name], target.part)
        if target.part != "median":  # of all rounds: one alone has no such part
            return part_of(samples[name], target.part) / median(samples[target.beside])
        each = by_round(samples[name], times[name]), by_round(samples[target.beside], times[target.beside])
        return median(ours / theirs for ours, theirs in zip(*each, strict=True))

    value = taken(target.ours)
    least = taken(target.within) if samples.get(target.within) else 0.0
    if least > target.most:
        return Answer(target, value, value <= target.most, False, least)
    return Answer(target, value, value <= target.most, counts)


# Measuring


def in_turn(variants: Sequence[Variant], rounds: int) -> Samples:
    """The samples of all variants, round after round; every second round goes backwards."""
    measured = [variant for variant in variants if variant.sample]
    samples: dict[str, list[float]] = {variant.name: [] for variant in measured}
    for number in range(rounds):
        gc.collect()
        for variant in measured if number % 2 == 0 else reversed(measured):
            assert variant.sample is not None
            samples[variant.name] += [variant.sample() for _ in range(variant.times)]
    return samples


def measured(group: Group, folder: Path, rounds: int, say: Callable[[str], object]) -> Figures:
    """Measure a group; once more where its floor is restless, and then the calmer of the two counts."""
    rounds = min(rounds, group.rounds or rounds)
    load = os.getloadavg()[0]
    with group.open(folder) as opened:
        variants = tuple(opened)
        for target in group.targets:
            answered(target, variants, {})  # a name that is none is said before minutes have passed
        in_turn(variants, 1)  # what is loaded, compiled or cached by a first call
        samples = in_turn(variants, rounds)
        repeated = spread(samples.get(group.floor, ())) > RESTLESS
        if repeated:
            say(f"{group.name}: {group.floor} is spread by {spread(samples[group.floor]):.0%}; once more")
            again = in_turn(variants, rounds)
            samples = min(samples, again, key=lambda one: spread(one[group.floor]))
    answers = tuple(answered(target, variants, samples) for target in group.targets)
    return Figures(group, variants, samples, load, repeated, answers)


def missed(figures: Sequence[Figures]) -> tuple[Answer, ...]:
    """The targets that count and were not reached."""
    return tuple(one for each in figures for one in each.answers if one.counts and one.met is False)
