"""A host-wide option is one record, and every reader of options has it."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from hookscope.app.options import Options, command_on, options_from_text, options_to_text
from hookscope.cli.options import machine_options
from hookscope.cli.startup import options_from
from hookscope.console.dialogs.what_if_form import WhatIfFields, options_with, what_if_fields_of
from hookscope.host_options import HOST_FIELDS, HOST_OPTIONS, MACHINE_FIELDS, HostOption
from hookscope.integrations.dap.debugged_run import LAUNCH_ARGUMENTS, parse_launch

VALUES: dict[str, Any] = {"text": "linux", "path": Path("/some/where"), "pairs": {"A": "b"}, "flag": True}


def given(option: HostOption) -> Options:
    return replace(Options(), **{option.name: VALUES[option.kind]})


def test_the_command_line_takes_each_of_them() -> None:
    assert [parameter.opts[0] for parameter in machine_options()] == [one.flag for one in HOST_OPTIONS]


@pytest.mark.parametrize("option", HOST_OPTIONS, ids=lambda option: option.name)
def test_each_reaches_the_options_from_everywhere(option: HostOption) -> None:
    assert option.name in {field.name for field in fields(Options)}
    wanted, value = given(option), VALUES[option.kind]
    assert options_from({option.name: value}) == wanted
    assert options_from({}, wanted) == wanted
    assert options_from_text(options_to_text(wanted)) == wanted
    plain = str(value) if option.kind == "path" else value
    launch = parse_launch({"event": "command:new", option.argument: plain}, Options())
    assert replace(launch.options, bundled_trusted=True) == wanted
    assert option.argument in LAUNCH_ARGUMENTS
    assert (option.flag in command_on(wanted, "list")) is option.is_copied


@pytest.mark.parametrize(("field", "option"), [*MACHINE_FIELDS.items(), *HOST_FIELDS.items()])
def test_each_field_of_the_what_if_form_sets_its_option(field: str, option: HostOption) -> None:
    text = "A=b" if option.kind == "pairs" else str(VALUES[option.kind])
    typed = replace(WhatIfFields(), **{field: text})
    assumed = options_with(typed, Options())
    assert getattr(assumed, option.name) == VALUES[option.kind]
    assert what_if_fields_of(assumed) == typed
