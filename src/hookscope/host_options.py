"""The options that choose a host and a machine: one record each, read by whatever takes or repeats them.

That is the command line, the launch arguments of an editor, the What if form, commands to copy and options
that another process is started with. `hookscope --help` reads this file, so that it imports nothing.
"""

from typing import Literal, NamedTuple

PLATFORMS = ("linux", "darwin", "win32")


class HostOption(NamedTuple):
    """One of the options. `name` is its field in `app.options.Options`."""

    name: str
    metavar: str
    help: str
    kind: Literal["text", "path", "pairs", "flag"] = "text"
    choices: tuple[str, ...] = ()
    is_copied: bool = True  # commands to copy repeat it

    @property
    def flag(self) -> str:
        """As the command line has it: `--env-from`."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def argument(self) -> str:
        """As an editor's launch has it: `envFrom`."""
        first, *more = self.name.split("_")
        return first + "".join(map(str.capitalize, more))


DIALECT = HostOption("dialect", "D", "Whose rules apply. Found out where not given.")
WORKSPACE = HostOption("workspace", "DIR", "The agent's workspace.", "path")
HOME = HostOption("home", "DIR", "The home folder to look in.", "path")
BUNDLED = HostOption("bundled", "DIR", "The folder of bundled hooks.", "path")
CONFIG = HostOption("config", "FILE", "The host's settings file.", "path")
AGENT = HostOption("agent", "ID", "In this agent's workspace, of those in the settings.")
OS = HostOption("os", "NAME", "What if: this platform.", choices=PLATFORMS)
ENV = HostOption("env", "K=V", "What if: this variable.", "pairs", is_copied=False)  # may be a secret
ENV_FROM = HostOption(
    "env_from",
    "SOURCE",
    "What if: the environment of a FILE, unit:NAME, launchd:LABEL, pid:N or process:NAME.",
)
PATH = HostOption("path", "DIRS", "What if: this PATH; with a + in front: these folders before it.")
ENVIRONMENT = HostOption(
    "environment", "NAME", "Whose variables fill events: .hookscope/environments.", is_copied=False
)
CLEAN_ENV = HostOption(
    "clean_env", "", "What if: a service's environment, not this shell's.", "flag", is_copied=False
)

# In the order of the help.
HOST_OPTIONS = (
    *(DIALECT, WORKSPACE, HOME, BUNDLED, CONFIG, AGENT),
    *(OS, ENV, ENV_FROM, PATH, ENVIRONMENT, CLEAN_ENV),
)

# The fields of the What if form. Those of the host otherwise say what is really meant.
MACHINE_FIELDS = {"platform": OS, "path": PATH, "environment": ENV_FROM, "variables": ENV}
HOST_FIELDS = {"settings": CONFIG, "workspace": WORKSPACE, "agent": AGENT, "host": DIALECT}
