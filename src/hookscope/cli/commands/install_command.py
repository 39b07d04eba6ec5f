"""`hookscope install SPEC`."""

import click

from hookscope.app.options import Options
from hookscope.cli import answers, pack_operations
from hookscope.cli.answers import Answer
from hookscope.cli.host_format import format_option, is_host_format
from hookscope.cli.pack_operations import ConfirmationOptions
from hookscope.packs.install_plan import InstallOptions


@answers.command(
    "install",
    click.Argument(["spec"]),
    click.Option(["--link", "-l"], is_flag=True, help="Link to the folder instead of copying it."),
    click.Option(["--pin"], is_flag=True, help="npm only: stay at this version and integrity."),
    click.Option(["--force"], is_flag=True, help="Replace what is installed under this name."),
    click.Option(["--dependencies"], is_flag=True, help="Install its dependencies too, without scripts."),
    pack_operations.accept_changed_option(),
    pack_operations.yes_option(),
    pack_operations.dry_run_option(),
    pack_operations.diff_option(),
    format_option(),
)
def command(
    options: Options,
    spec: str,
    link: bool,
    pin: bool,
    force: bool,
    dependencies: bool,
    accept_changed: bool,
    yes: bool,
    dry_run: bool,
    diff: bool,
    shape: str,
    as_json: bool,
) -> Answer:
    """Install a hook or a pack into the host's own folder, and switch it on in the settings.

    SPEC is a folder, an archive (.zip .tgz .tar.gz .tar), an npm package (name, name@version, name@tag),
    python:NAME (an installed package with hooks) or a git address (git+https://…#ref). It is fetched and
    checked as a whole. Then Hookscope shows everything that it would write, and asks on a terminal. No
    package code runs. `hookscope uninstall` reverts exactly this.
    """
    install_options = InstallOptions(link=link, pin=pin, force=force, dependencies=dependencies)
    if is_host_format(shape):
        return pack_operations.install_in_host_format(
            options, spec, install_options, dry_run=dry_run, accept_changed=accept_changed
        )
    bench, manager = pack_operations.open_pack_manager(options, writes=not dry_run)
    planned = manager.plan_install(spec, install_options, pack_operations.progress_reporter(as_json))
    return pack_operations.confirm_and_apply(
        bench, manager, planned, ConfirmationOptions(yes, dry_run, as_json, diff, accept_changed)
    )
