"""Figures as a table for people, as Markdown for CONTRIBUTING.md, and as one JSON document."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from tests.benchmarks.machine import line
from tests.benchmarks.measuring import Answer, Figures, Unit, Variant, part_of, spread

STEPS = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6), (0.0, "ns", 1e9))
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
HEAD = ("what", "median", "beside", "ratio", "target", "")
Row = tuple[str, str, str, str, str, str]


def amount(value: float, unit: Unit) -> str:
    """`3.21 ms`, `42 MiB`."""
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB"
    name, times = next((name, times) for least, name, times in STEPS if value >= least)
    return f"{_three(value * times)} {name}"


def ratio(value: float) -> str:
    """`2.4`; a small one as `1/78`."""
    return f"1/{_three(1 / value)}" if 0 < value < 0.2 else _three(value)


def rows(figures: Figures) -> Iterator[Row]:
    """A row for each variant, and one more for each further target that it has."""
    for variant in figures.variants:
        about = [one for one in figures.answers if one.target.ours == variant.name]
        told = _median(figures, variant)
        for number, answer in enumerate(about or [None]):
            name, took = (variant.name, told) if not number else ("", "")
            yield (name, took, *_judged(answer, variant.unit))


def shown(all_figures: Sequence[Figures]) -> str:
    """For a terminal."""
    tables = [(one, [HEAD, *rows(one)]) for one in all_figures]
    widths = [max(len(row[at]) for _, table in tables for row in table) for at in range(len(HEAD))]
    lines = []
    for one, table in tables:
        lines += ["", _title(one)]
        for row in table:
            cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            lines.append(f"  {'  '.join(cells)}".rstrip())
    return "\n".join(lines).lstrip("\n")


def markdown(all_figures: Sequence[Figures], facts: Mapping[str, object], rounds: int) -> str:
    """For CONTRIBUTING.md: one table, and a line that says where and when."""
    lines = [f"{line(facts)}; medians of up to {rounds} interleaved rounds.", ""]
    lines += ["| | median | beside | ratio | target | |", "|---|---:|---|---:|---:|---|"]
    for one in all_figures:
        lines.append(f"| **{one.group.title}** | | | | | |")
        lines += [f"| {' | '.join(row)} |".replace("  ", " ") for row in rows(one)]
    return "\n".join(lines)


def placed(page: str, table: str) -> str:
    """The page with this table between its marks. Raises ValueError where it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"There is no {BEGIN} … {END} to put the table between.")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def document(all_figures: Sequence[Figures], facts: Mapping[str, object], rounds: int) -> dict[str, object]:
    """Everything, each sample too."""
    return {"machine": facts, "rounds": rounds, "groups": [_group(one) for one in all_figures]}


def _group(figures: Figures) -> dict[str, object]:
    return {
        "name": figures.group.name,
        "title": figures.group.title,
        "floor": figures.group.floor,
        "load": figures.load,
        "repeated": figures.repeated,
        "variants": [_variant(figures, one) for one in figures.variants],
        "targets": [
            {
                "ours": one.target.ours,
                "part": one.target.part,
                "beside": one.target.beside or None,
                "most": one.target.most,
                "value": one.value,
                "met": one.met,
                "counts": one.counts,
                "within": one.target.within or None,
                "least": one.least,
            }
            for one in figures.answers
        ],
    }


def _variant(figures: Figures, variant: Variant) -> dict[str, object]:
    told: dict[str, object] = {"name": variant.name, "unit": variant.unit}
    samples = figures.samples.get(variant.name)
    if not samples:
        return {**told, "missing": variant.missing}
    return {
        **told,
        "median": median(samples),
        "p95": part_of(samples, "p95"),
        "spread": spread(samples),
        "samples": list(samples),
    }


def _median(figures: Figures, variant: Variant) -> str:
    samples = figures.samples.get(variant.name)
    return amount(median(samples), variant.unit) if samples else variant.missing


def _judged(answer: Answer | None, unit: Unit) -> tuple[str, str, str, str]:
    if answer is None:
        return ("", "", "", "")
    target = answer.target
    word = "not measured" if answer.met is None else "met" if answer.met else "missed"
    if answer.least is not None:
        least = ratio(answer.least) if target.beside else amount(answer.least, unit)
        word = f"out of reach: {target.within} alone is {least}"
    elif not answer.counts and answer.met is False:
        word = "missed (told only)"
    p95 = "p95" if target.part == "p95" else ""
    if target.beside:
        value = "–" if answer.value is None else ratio(answer.value)
        return (f"{p95} {target.beside}".strip(), value, f"≤ {ratio(target.most)}", word)
    value = "–" if answer.value is None else amount(answer.value, unit)
    return (p95, value, f"≤ {amount(target.most, unit)}", word)


def _title(figures: Figures) -> str:
    again = ", the calmer of two" if figures.repeated else ""
    floor = figures.samples.get(figures.group.floor, ())
    return (
        f"{figures.group.title} (load {figures.load:.1f}, {figures.group.floor} ±{spread(floor):.0%}{again})"
    )


def _three(value: float) -> str:
    """Three digits, as people write them."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
