"""`hookscope doctor`."""

from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_text
from hookscope.model.text import one_line


@answers.command("doctor")
def command(options: Options) -> Answer:
    """What was detected and from where, and what is missing, each with the next step."""
    bench = answers.workbench_for(options)
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
    return Answer({"findings": document}, fold_text(lines))
