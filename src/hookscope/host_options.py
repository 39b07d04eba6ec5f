"""The options that choose a host and a machine, one record for each.

The command line, an editor's launch configuration, the What if form, copied commands and the options of child
processes are made from these records. `hookscope --help` reads this file, so it imports only `typing`.
"""

from typing import Literal, NamedTuple

PLATFORMS = ("linux", "darwin", "win32")


class HostOption(NamedTuple):
    """One option. `name` is its field in `app.options.Options`."""

    name: str
    metavar: str
    help: str
    kind: Literal["text", "path", "pairs", "flag"] = "text"
    choices: tuple[str, ...] = ()
    is_copied: bool = True  # commands to copy repeat it

    @property
    def flag(self) -> str:
        """The command line's spelling: `--env-from`."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def argument(self) -> str:
        """The spelling of an editor's launch configuration: `envFrom`."""
        first, *more = self.name.split("_")
        return first + "".join(map(str.capitalize, more))


DIALECT = HostOption("dialect", "D", "The host whose rules apply; detected by default.")
WORKSPACE = HostOption("workspace", "DIR", "The agent's workspace.", "path")
HOME = HostOption("home", "DIR", "Your home folder.", "path")
BUNDLED = HostOption("bundled", "DIR", "The folder of bundled hooks.", "path")
CONFIG = HostOption("config", "FILE", "The host's settings file.", "path")
AGENT = HostOption("agent", "ID", "Use the workspace of this agent in the settings.")
OS = HostOption("os", "NAME", "What if: another platform.", choices=PLATFORMS)
ENV = HostOption("env", "K=V", "What if: a variable.", "pairs", is_copied=False)  # may be a secret
ENV_FROM = HostOption(
    "env_from",
    "SOURCE",
    "What if: the environment of a FILE, unit:NAME, launchd:LABEL, pid:N or process:NAME.",
)
PATH = HostOption("path", "DIRS", "What if: another PATH; a leading + adds these folders in front.")
ENVIRONMENT = HostOption(
    "environment", "NAME", "Fill events with variables of .hookscope/environments/NAME.yaml.", is_copied=False
)
CLEAN_ENV = HostOption(
    "clean_env", "", "What if: a service's environment, not this shell's.", "flag", is_copied=False
)

# In the order of the help.
HOST_OPTIONS = (
    *(DIALECT, WORKSPACE, HOME, BUNDLED, CONFIG, AGENT),
    *(OS, ENV, ENV_FROM, PATH, ENVIRONMENT, CLEAN_ENV),
)

# The fields of the What if form. On the command line, host fields are real settings, not assumptions.
MACHINE_FIELDS = {"platform": OS, "path": PATH, "environment": ENV_FROM, "variables": ENV}
HOST_FIELDS = {"settings": CONFIG, "workspace": WORKSPACE, "agent": AGENT, "host": DIALECT}
