"""`hookscope packs`."""

from hookscope.app.options import Options
from hookscope.cli import answers, pack_operations
from hookscope.cli.answers import Answer
from hookscope.cli.render import pack_output


@answers.command("packs")
def command(options: Options) -> Answer:
    """List installed packs: version, source, hooks, and files changed on disk since."""
    bench, manager = pack_operations.open_pack_manager(options, writes=False)
    host = bench.open()
    statuses, host_installs = manager.statuses(), manager.installed_by_host()
    document = {
        "dialect": host.dialect.name,
        "packs": [pack_output.pack_status_document(item) for item in statuses],
        "of_host": [pack_output.host_install_document(item) for item in host_installs],
    }
    return Answer(document, pack_output.pack_list_text(statuses, host, host_installs))
