"""Names that scripts and programs depend on: options, and the public names of the library."""

from __future__ import annotations

import dataclasses
import inspect
from enum import Enum
from types import ModuleType
from typing import Any

import click

import hookscope
import hookscope.plugins
from hookscope.cli.main import root_command


def options() -> dict[str, list[str]]:
    """Command, with the names of those around it → its arguments and options, as they are typed."""
    return dict(
        sorted(
            _options_of(
                root_command,
                click.Context(root_command, info_name="hookscope", **root_command.context_settings),
            ).items()
        )
    )


def _options_of(command: click.Command, ctx: click.Context) -> dict[str, list[str]]:
    # Not `get_params`: it keeps the help option of the first context that asked, whichever that was.
    options = [*map(_typed, command.params), ", ".join(ctx.help_option_names)]
    found = {ctx.command_path: options}
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            found |= _options_of(inner, click.Context(inner, info_name=name, parent=ctx))
    return found


def _typed(parameter: click.Parameter) -> str:
    names = (
        ", ".join(parameter.opts) if isinstance(parameter, click.Option) else parameter.human_readable_name
    )
    choices = f" [{'|'.join(parameter.type.choices)}]" if isinstance(parameter.type, click.Choice) else ""
    value = "" if getattr(parameter, "is_flag", True) else " VALUE"
    return names + value + choices


def library() -> dict[str, list[str]]:
    """Module → its public names, each function and class with its parameters."""
    return {module.__name__: _names(module) for module in (hookscope, hookscope.plugins)}


def _names(module: ModuleType) -> list[str]:
    return [f"{name}{_parameters(getattr(module, name))}" for name in sorted(module.__all__)]


def _parameters(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, Enum):
        return f": {', '.join(str(member.value) for member in value)}"
    if dataclasses.is_dataclass(value):
        return f"({', '.join(field.name for field in dataclasses.fields(value))})"
    if not callable(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:  # written in C
        return ""
    return f"({', '.join(_parameter(parameter) for parameter in parameters)})"


def _parameter(parameter: inspect.Parameter) -> str:
    """Its name, with a default that is a plain value: others print the address of an object."""
    plain = isinstance(parameter.default, bool | int | float | str | type(None))
    if parameter.default is not parameter.empty and not plain:
        parameter = parameter.replace(default=...)
    return str(parameter.replace(annotation=parameter.empty))
