"""`hookscope doctor`."""

from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import fold_text
from hookscope.model.text import one_line


@answers.command("doctor")
def command(options: Options) -> Answer:
    """Show what was detected, from where, and what is missing, each with the next step."""
    bench = answers.workbench_for(options)
    findings = bench.doctor(bench.scan())
    width = max(len(item.name) for item in findings)
    lines = []
    for item in findings:
        lines.append(f"{'✓' if item.ok else '!'} {item.name:<{width}}  {one_line(item.found, 400)}")
        if item.next_step:
            lines.append(f"  {'':<{width}}  {one_line(item.next_step, 400)}")
    document = [
        {"name": item.name, "found": item.found, "well": item.ok, "next": item.next_step} for item in findings
    ]
    return Answer({"findings": document}, fold_text(lines))
