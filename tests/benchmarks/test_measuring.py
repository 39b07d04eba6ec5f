"""The arithmetic of the figures, and what decides the exit code."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.__main__ import GROUPS, chosen, main, of_a_user
from tests.benchmarks.measuring import Group, Target, Variant, answered, in_turn, measured, part_of, spread
from tests.benchmarks.table import amount, placed, ratio

some_times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=40)
Samples = Callable[[], float]


def steady(value: float) -> Samples:
    return lambda: value


def group(*variants: Variant, targets: Sequence[Target] = (), floor: str = "floor") -> Group:
    @contextmanager
    def opened(folder: Path) -> Iterator[Sequence[Variant]]:
        yield variants

    return Group("some", "Some things", opened, floor, tuple(targets))


FLOOR, OURS = Variant("floor", steady(0.002)), Variant("ours", steady(0.006))
ABSENT = Variant("theirs", None, missing="not installed")


@given(some_times)
def test_a_part_lies_among_the_samples_and_scale_changes_no_spread(samples: list[float]) -> None:
    assert min(samples) <= part_of(samples, "median") <= part_of(samples, "p95") * (1 + 1e-9)
    assert part_of(samples, "p95") <= max(samples) * (1 + 1e-9)
    assert spread(samples) == pytest.approx(spread([1000 * one for one in samples]))
    assert spread([samples[0]] * len(samples)) == 0


def test_variants_take_turns_and_every_second_round_goes_backwards() -> None:
    asked: list[str] = []

    def noting(name: str) -> Samples:
        return lambda: float(asked.append(name) or len(asked))  # type: ignore[func-returns-value]

    variants = [Variant("a", noting("a")), ABSENT, Variant("b", noting("b"), times=2)]
    samples = in_turn(variants, 3)
    assert "".join(asked) == "abbbbaabb"
    assert samples == {"a": [1, 6, 7], "b": [2, 3, 4, 5, 8, 9]}


def test_unsteady_baseline_is_measured_again_and_the_steadier_run_counts() -> None:
    times = iter([1.0, *[1.0, 9.0, 1.0, 9.0], *[2.0, 2.0, 2.1, 2.0]])  # warmed up, restless, calm
    said: list[str] = []
    floor = Variant("floor", lambda: next(times))
    figures = measured(group(floor), Path(), 4, said.append)
    assert figures.repeated
    assert figures.samples["floor"] == [2.0, 2.0, 2.1, 2.0]
    assert said == ["some: floor is spread by 160%; once more"]


@pytest.mark.parametrize(
    ("target", "code", "told"),
    [
        (Target("ours", 3.1, "floor"), 0, "met"),
        (Target("ours", 2.9, "floor"), 1, "missed"),
        (Target("ours", 0.005), 0, "missed (told only)"),  # an absolute time is the machine's
        (Target("ours", 1.0, "theirs"), 0, "not measured"),
        (Target("ours", 0.9, "floor", within="floor"), 0, "out of reach: floor alone is 1"),
        (Target("ours", 2.9, "floor", within="floor"), 1, "missed"),  # the floor leaves room for it
        (Target("ours", 3.1, "floor", within="floor"), 0, "met"),
        (Target("ours", 0.9, "floor", within="theirs"), 1, "missed"),  # nothing is known of that
        (Target("heavy", 2**20), 1, "missed"),  # memory is not
    ],
)
def test_only_ratios_and_memory_decide(
    target: Target, code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heavy = Variant("heavy", steady(2**21), unit="bytes")
    some = group(FLOOR, OURS, ABSENT, heavy, targets=[target])
    page, file = tmp_path / "CONTRIBUTING.md", tmp_path / "figures.json"
    page.write_text("Before\n<!-- figures -->\nthe last table\n<!-- /figures -->\nafter\n")
    arguments = ["--rounds", "2", "--json", str(file), "--into", str(page)]
    assert main(arguments, [some]) == code
    row = next(line for line in capsys.readouterr().out.splitlines() if line.endswith(told))
    assert row.split()[0] == target.ours
    document = json.loads(file.read_text())
    (answer,) = document["groups"][0]["targets"]
    assert answer["met"] == {"met": True, "not measured": None}.get(told, False)
    assert document["groups"][0]["variants"][2] == {"name": "theirs", "unit": "s", "missing": "not installed"}
    text = page.read_text()
    assert text.startswith("Before\n<!-- figures -->\n")
    assert text.endswith("\n<!-- /figures -->\nafter\n")
    assert f"| {told} |" in text
    assert "the last table" not in text


def test_a_ratio_is_that_of_most_rounds_however_fast_each_was() -> None:
    paces = (1.0, 1.0, 5.0, 5.0, 5.0)  # what takes longer does so for both
    disturbed = (1.0, 1.0, 5.0, 5.0, 9.0)
    samples = {
        "floor": [2.0 * pace for pace in paces],
        "ours": [part * pace for pace in disturbed for part in (5.0, 7.0)],
    }
    variants = [Variant("floor", steady(2.0)), Variant("ours", steady(6.0), times=2)]
    assert answered(Target("ours", 3.0, "floor"), variants, samples).value == 3.0
    assert (
        answered(Target("ours", 30.0), variants, samples).value == part_of(samples["ours"], "median") == 25.0
    )
    last = answered(Target("ours", 3.0, "floor", part="p95"), variants, samples)
    assert last.value == part_of(samples["ours"], "p95") / 10.0


def test_a_target_of_a_name_that_no_variant_has_is_said_before_anything_is_measured() -> None:
    def never() -> float:
        pytest.fail("measured")

    some = group(Variant("floor", never), targets=[Target("floor", 1.0, "flor")])
    with pytest.raises(KeyError, match="flor"):
        measured(some, Path(), 1, print)


def test_a_group_of_minutes_runs_only_when_it_is_named() -> None:
    assert "million" not in [one.name for one in chosen([], GROUPS)]
    assert [one.name for one in chosen(["million", "dispatch"], GROUPS)] == ["dispatch", "million"]
    with pytest.raises(SystemExit, match="2"):
        main(["nothing"])


def test_figures_are_written_as_people_read_them() -> None:
    said = [amount(one, "s") for one in (1.5, 0.0321, 4.2e-5, 2e-9)]
    assert said == ["1.5 s", "32.1 ms", "42 µs", "2 ns"]
    assert amount(42 * 2**20, "bytes") == "42 MiB"
    assert [ratio(one) for one in (4.0, 0.5, 1 / 78, 1234.5)] == ["4", "0.5", "1/78", "1,234"]
    with pytest.raises(ValueError, match="figures"):
        placed("no marks", "table")


def test_nothing_of_the_users_leads_a_measured_program_elsewhere() -> None:
    names = ["PATH", "HOME", "OPENCLAW_STATE_DIR", "HOOKSCOPE_STATE_DIR", "PYTHONDONTWRITEBYTECODE"]
    assert of_a_user(names) == names[2:]
