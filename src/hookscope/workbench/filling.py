"""What fills the events of a workspace: its variables as they are now, and the environments there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.core.dialect import Host
from hookscope.core.runs import Event
from hookscope.journal.secrets import Secret
from hookscope.values import dataclass
from hookscope.workbench.environments import ENVIRONMENTS, environments_of, read_environment
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.secrets import resolved, secrets_of
from hookscope.workbench.variables import DOTENV, Variables, filled, secrets_used, variables_of

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

Fill = Callable[[Any, Variables, datetime], Any]


@dataclass(frozen=True, slots=True)
class Filling:
    """Variables, and whence they can come. `problem`: the chosen environment cannot be read, and why."""

    variables: Variables = field(default_factory=Variables)
    environments: tuple[str, ...] = ()
    chosen: str | None = None  # the environment in force
    problem: str = ""


class Filler:
    """Fills events of a workbench, and keeps in mind the secrets that they got: a journal masks them wherever
    they land."""

    def __init__(self, bench: Workbench, secrets: dict[Secret, None]) -> None:
        self._bench = bench
        self._secrets = secrets  # in order, and the workbench's

    def variables(self, view: View) -> Variables:
        """What `${NAME}` in an event stands for now: files are read anew. Raises Refusal for an environment
        that is not there or cannot be read."""
        return self.variables_of(view.host)

    def variables_of(self, host: Host) -> Variables:
        """As `variables`, for this host."""
        chosen = self._bench.setup.environment
        environment = None if chosen is None else read_environment(host.workspace, chosen)
        return variables_of(host, self._bench.options.env, environment)

    def filling(self, view: View) -> Filling:
        """What fills events of this view now: files are read anew. Never raises."""
        return filling_of(view.host, self._bench.options.env, self._bench.setup.environment)

    def filled(self, value: Any, variables: Variables, now: datetime, where: str = "The event") -> Any:
        """A plain value of an event with its variables and times filled in; `now` is the event's moment.

        Secrets among them are masked in the journal from now on, wherever the event has them. Raises
        Refusal, whose sentence begins with `where`.
        """
        self._secrets |= dict.fromkeys(secrets_used(value, variables))
        return filled(value, variables, now, where)

    def resolved(self, event: Event, view: View) -> Event:
        """An event of the journal with its secrets back. Raises Refusal for one that is not to be had."""

        def noted() -> Mapping[str, str]:
            known = {secret.name: secret.value for secret in self._bench.redaction_of(view.host).secrets}
            values = {**known, **self.variables(view).values}
            self._secrets |= dict.fromkeys(secrets_of(event, values))
            return values

        return resolved(event, view.host, noted)


def files_of(workspace: Path) -> tuple[Path, ...]:
    """The file and the folder that it is read from."""
    return workspace / DOTENV, workspace / ENVIRONMENTS


def filling_of(host: Host, given: Mapping[str, str], chosen: str | None) -> Filling:
    """What fills events of this host. Reads `.env` and the environment's file. Never raises."""
    names = tuple(environments_of(host.workspace))
    try:
        environment = None if chosen is None else read_environment(host.workspace, chosen)
        return Filling(variables_of(host, given, environment), names, chosen)
    except Refusal as refused:
        problem = str(refused).replace(f"{host.workspace}{os.sep}", "")
        return Filling(variables_of(host, given), names, chosen, problem)


def filled_event(event: Event, filling: Filling, fill: Fill = filled) -> Event:
    """The event with its variables and times filled in, `${now}` being its own moment. Raises Refusal.

    `fill` does it: a workbench's filler notes secrets, too.
    """
    if filling.problem:
        raise Refusal(filling.problem, code=2)
    written = [event.session_key, event.context, event.ctx]
    session, context, ctx = fill(written, filling.variables, event.timestamp)
    return replace(event, session_key=str(session), context=context, ctx=ctx)
