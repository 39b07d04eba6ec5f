"""`hookscope fix NAME`."""

import click

from hookscope.app.options import Options, command_on
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.authoring.fix.model import FixValues, Repair
from hookscope.authoring.fix.repair import (
    apply_repair,
    apply_workspace_repair,
    find_repair,
    last_failed_run,
    repair_workspace,
    with_status_now,
)
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.commands.toggle_commands import with_manual_command
from hookscope.cli.render import change_output
from hookscope.model.failure import Refusal


@answers.command(
    "fix",
    click.Argument(["name"], required=False),
    click.Option(
        ["--all", "all_hooks"], is_flag=True, help="Fix all hooks, by edits to their own files only."
    ),
    click.Option(["--gate"], metavar="GATE", help="Only this check: env, config, events, …"),
    click.Option(
        ["--value", "values"],
        metavar="[NAME=]VALUE",
        multiple=True,
        help="A value for a fix; NAME is optional for a single value. Repeatable.",
    ),
    click.Option(["--lint"], is_flag=True, help="Also apply the safe fixes of lint."),
    click.Option(["--rule", "rules"], multiple=True, metavar="ID", help="Only this lint rule. Repeatable."),
    click.Option(["--apply"], is_flag=True, help="Write the edits; `hookscope undo` reverts each."),
)
def fix_command(
    options: Options,
    name: str | None,
    all_hooks: bool,
    gate: str | None,
    values: tuple[str, ...],
    lint: bool,
    rules: tuple[str, ...],
    apply: bool,
) -> Answer:
    """Show what would fix each failed check of a hook, or of all hooks, as a diff; --apply writes it.

    Exit code 0: the hook is ready, or would be after the fix. Install hints are shown and never run.
    `hookscope trust` allows code to run.
    """
    if all_hooks == (name is not None):
        raise click.UsageError("fix takes the name of a hook, or --all.")
    bench = answers.workbench_for(options)
    view = bench.scan()
    if name is None:
        if gate is not None or values or lint or rules:
            raise click.UsageError("--all cannot be combined with --gate, --value, --lint or --rule.")
        return _fix_all(bench, view, options, apply=apply)
    lint_rules = rules if lint or rules else None
    _check_rules(rules)
    repair = find_repair(bench, view, name, gate=gate, rules=lint_rules)
    _check_gate(repair, gate)
    if values:
        repair = find_repair(bench, view, name, _parse_values(values, repair), gate=gate, rules=lint_rules)
    written = apply and bool(repair.changes)
    notes: tuple[str, ...] = ()
    if written:
        files = dict.fromkeys(change.path for change in repair.changes)
        notes = tuple(text for file in files for text in answers.written_despite_what_if(options, file))
        try:
            apply_repair(bench, repair)
        except Refusal as refusal:
            raise with_manual_command(
                refusal, command_on(options, "fix", name, *_typed_options(gate, lint, rules))
            ) from None
        repair = with_status_now(bench, repair)
        bench.close_now()
    failed = None if repair.fixes else last_failed_run(bench, view, repair)
    words = ("fix", name, *_typed_options(gate, lint, rules))
    context = change_output.RepairContext(view, written, failed, command_on(options, *words))
    settings_warnings = answers.unreadable_settings_warnings(view.host)
    return Answer(
        change_output.repair_document(repair, context),
        change_output.repair_text(repair, context),
        ok=repair.ready,
        notes=(*settings_warnings, *notes),
    )


def _fix_all(bench: Workbench, view: Snapshot, options: Options, *, apply: bool) -> Answer:
    repair = repair_workspace(view)
    written = apply and bool(repair.changes)
    notes: tuple[str, ...] = ()
    if written:
        files = dict.fromkeys(change.path for change in repair.changes)
        notes = tuple(text for file in files for text in answers.written_despite_what_if(options, file))
        apply_workspace_repair(bench, repair)
        bench.close_now()
    return Answer(
        change_output.workspace_repair_document(repair, view, written),
        change_output.workspace_repair_text(repair, view, written),
        ok=not repair.left and all(one.ready for one in repair.repairs),
        notes=(*answers.unreadable_settings_warnings(view.host), *notes),
    )


def _typed_options(gate: str | None, lint: bool, rules: tuple[str, ...]) -> list[str]:
    typed = ["--gate", gate] if gate is not None else []
    typed += ["--lint"] if lint else []
    return typed + [word for rule in rules for word in ("--rule", rule)]


def _check_rules(rules: tuple[str, ...]) -> None:
    if rules:
        from hookscope.authoring.lint.linting import rule_named  # most fixes need no lint

        for rule in rules:
            rule_named(rule)


def _check_gate(repair: Repair, gate: str | None) -> None:
    """Raise Refusal for a gate that the hook does not have."""
    names = (
        [failed_gate.name for failed_gate in repair.before.verdict.gates] if repair.before is not None else []
    )
    if gate is not None and repair.before is not None and gate not in names:
        listed = ", ".join(dict.fromkeys(names))
        raise Refusal(f"{repair.name} has no check {gate!r}.", f"Its checks: {listed}.", code=2)


def _parse_values(values: tuple[str, ...], repair: Repair) -> FixValues:
    """Return the values by name. Raises Refusal for a value that no fix needs."""
    named: dict[str, str] = {}
    for text in values:
        name, sign, value = text.partition("=")
        if sign and name in repair.required_values:
            named[name] = value
        elif len(repair.required_values) == 1 and len(values) == 1:
            named[repair.required_values[0]] = text
        else:
            accepted = ", ".join(f"--value {name}=…" for name in repair.required_values)
            next_step = f"Its inputs: {accepted}." if accepted else f"{repair.name} needs no value."
            subject = f"--value {name}=…" if sign else "A --value without a name"  # the value may be a secret
            raise Refusal(f"{subject} is not an input of this fix.", next_step, code=2)
    return FixValues(named)
