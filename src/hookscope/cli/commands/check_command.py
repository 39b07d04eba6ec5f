"""`hookscope check`."""

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.trust_requests import untrusted_program_messages
from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.cli.render import hook_output


@answers.command("check", *host_format.host_list_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """Count the hooks that are ready, and show what stops the others."""
    if host_format.is_host_format(shape, eligible=eligible):
        return host_format.host_check(options, verbose)
    view = answers.workbench_for(options).scan()
    text = hook_output.check_text(view, verbose=verbose)
    return Answer(json_documents.check_document(view), text, notes=untrusted_program_messages(view))
