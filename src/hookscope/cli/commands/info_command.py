"""`hookscope info NAME`."""

from dataclasses import replace

import click

from hookscope.cli import answers, host_format, one_hook
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, documents


@answers.command(
    "info",
    click.Argument(["name"]),
    click.Option(["--places"], is_flag=True, help="Also list where each missing thing was looked for."),
    host_format.format_option(),
)
def command(options: Options, name: str, places: bool, shape: str) -> Answer:
    """One hook, by its name or settings key: every check, what has come of it so far – loaded, registered,
    an event that came, its last run – which copy wins, what it declares."""
    if host_format.is_host(shape):
        return host_format.described(options, name)
    bench = answers.bench_of(options)
    view = bench.look()
    row = bench.hook(view, name)
    from hookscope.workbench.links.chain import links_of  # here: it loads the database
    from hookscope.workbench.links.link import agreed, unfit

    aside = answers.unread_settings(view.host)
    try:
        links = links_of(bench, view, row)
    except OSError as error:
        links, aside = (), (*aside, f"What has come of it is not known: {error}.")
    verdict = replace(row.verdict, gates=agreed(row.verdict.gates, links))
    told = replace(row, verdict=verdict)
    document = {
        **documents.hook(told, view),
        **documents.declared(row.hook),
        "chain": [documents.link(one) for one in links],
        "limits": documents.limits(view.limits_of(row.hook)),
    }
    return Answer(document, one_hook.info(view, told, links, unfit(links), places=places), aside=aside)
