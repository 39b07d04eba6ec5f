"""`hookscope doctor`."""

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.folding import folded
from hookscope.core.text import one_line
from hookscope.workbench import Options


@answers.command("doctor")
def command(options: Options) -> Answer:
    """What was detected and from where, and what is missing, each with the next step."""
    bench = answers.bench_of(options)
    findings = bench.doctor(bench.look())
    width = max(len(item.name) for item in findings)
    lines = []
    for item in findings:
        lines.append(f"{'✓' if item.well else '!'} {item.name:<{width}}  {one_line(item.found, 400)}")
        if item.then:
            lines.append(f"  {'':<{width}}  {one_line(item.then, 400)}")
    document = [
        {"name": item.name, "found": item.found, "well": item.well, "next": item.then} for item in findings
    ]
    return Answer({"findings": document}, folded(lines))
