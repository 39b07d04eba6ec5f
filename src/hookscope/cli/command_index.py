"""The help line and the examples of every command, without importing the command."""

from __future__ import annotations

from collections.abc import Mapping

Example = tuple[str, str]

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "": (
        ("hookscope", "open the console on the hooks of this folder"),
        ("hookscope list", "all hooks, and why some would not run"),
        ("hookscope help start", "the first chapter of the manual"),
    ),
    "list": (
        ("hookscope list", "all hooks, by folder"),
        ("hookscope list --eligible", "only those whose requirements are met"),
        ("hookscope list -v --clean-env", "what a service would miss, check by check"),
    ),
    "info": (
        ("hookscope info greet", "every check of one hook"),
        ("hookscope info greet --places", "where each missing requirement was searched"),
        ("hookscope info greet --json", "as JSON, for programs"),
    ),
    "why": (
        ("hookscope why greet command:new", "does it run on this event, and if not, why"),
        ("hookscope why greet", "the same for each event that it subscribes to"),
    ),
    "check": (
        ("hookscope check", "how many are ready, and what stops the others"),
        ("hookscope check -v", "each failed check with near misses"),
    ),
    "lint": (
        ("hookscope lint", "mistakes in all hooks of the host"),
        ("hookscope lint hooks", "in the hooks below one folder"),
        ("hookscope lint --explain all", "every rule on one line"),
    ),
    "compare": (
        ("hookscope compare", "the hooks that hosts read differently"),
        ("hookscope compare greet", "one hook under all hosts"),
        ("hookscope compare --surroundings here,clean", "this shell, and a service with only HOME and PATH"),
    ),
    "load": (("hookscope load", "import every trusted handler"), ("hookscope load greet", "only this one")),
    "events": (
        ("hookscope events", "all events of the host"),
        ("hookscope events command:new", "when it is sent, its fields, its subscribers"),
        ("hookscope events --saved", "the saved events of this workspace"),
    ),
    "plan": (
        ("hookscope plan command:new", "which handlers would run, in order, and which not"),
        ("hookscope plan command:new --clean-env", "the same in a service"),
    ),
    "fire": (
        ("hookscope fire command:new", "fire it, and show what each handler did"),
        ("hookscope fire command:new --only greet", "for one hook"),
        ("hookscope fire .hookscope/events/greet.yaml", "a saved event"),
        (
            "hookscope fire command:new --repeat 20 --shuffle",
            "does the order matter, and which handlers interfere",
        ),
    ),
    "dap": (("hookscope dap", "started by an editor; see `hookscope help editors`"),),
    "sequence": (
        ("hookscope sequence", "list them"),
        ("hookscope sequence new", "the events that the host sends for /new"),
    ),
    "replay": (
        ("hookscope replay", "fire the last run again, and show what differs"),
        ("hookscope replay 12", "fire run 12 again"),
    ),
    "test": (
        ("hookscope test", "fire all saved events, and compare each run"),
        ("hookscope test --watch", "again on every save"),
        ("hookscope test --sandbox", "on copies, and show what handlers changed"),
    ),
    "fuzz": (
        ("hookscope fuzz command:new --sandbox", "unusual events, on copies of your files"),
        ("hookscope fuzz command:new --sandbox --seed 7", "the same events again"),
    ),
    "play": (
        ("hookscope play hello --dialect eve", "a session of one message"),
        ("hookscope play hello again --dialect eve", "a session of two"),
    ),
    "new": (
        ("hookscope new greet", "a working hook in this workspace"),
        ("hookscope new greet --event command:new --language python", "for this event, in Python"),
        ("hookscope new guard --plugin --dry-run", "show the files of a plugin, write nothing"),
    ),
    "fix": (
        ("hookscope fix greet", "what would fix its failed checks, as a diff"),
        ("hookscope fix greet --apply", "write it"),
    ),
    "enable": (
        ("hookscope enable greet", "switch it on in the host's settings"),
        ("hookscope enable greet --dry-run", "show the edit and its other effects"),
    ),
    "disable": (
        ("hookscope disable greet", "switch it off"),
        ("hookscope disable greet --dry-run", "show the edit, write nothing"),
    ),
    "undo": (
        ("hookscope undo --dry-run", "what would be undone"),
        ("hookscope undo", "undo the last change"),
    ),
    "install": (
        ("hookscope install ./greet --dry-run", "everything that would be written"),
        ("hookscope install ./greet --link", "link it instead of copying"),
        ("hookscope install @acme/hooks@1.2.3 --pin --yes", "one version from npm, in a script"),
    ),
    "update": (
        ("hookscope update --all --dry-run", "what is newer, and what would change"),
        ("hookscope update acme-hooks", "one pack, after a preview"),
    ),
    "uninstall": (
        ("hookscope uninstall acme-hooks --dry-run", "what would be removed"),
        ("hookscope uninstall acme-hooks", "revert exactly what its install did"),
    ),
    "packs": (
        ("hookscope packs", "what is installed, and what has changed since"),
        ("hookscope packs --json", "as JSON, for programs"),
    ),
    "log": (
        ("hookscope log", "the runs of this workspace"),
        ("hookscope log --failed --since 2h", "recent failures"),
        ("hookscope log --hook greet", "the runs of one hook"),
        ("hookscope log 12", "run 12 in full"),
    ),
    "pin": (("hookscope pin 12", "never delete run 12"), ("hookscope pin 12 --off", "unpin it")),
    "export": (
        ("hookscope export 12 --html run.html", "one run as a page"),
        ("hookscope export --failed --jsonl failed.jsonl", "several runs as JSON lines"),
    ),
    "tap": (
        ("hookscope tap install", "record every real event from now on"),
        ("hookscope tap events", "list the recorded events"),
        ("hookscope tap lists", "subscriptions that never received an event"),
    ),
    "tap install": (
        ("hookscope tap install --dry-run", "the files and the edit of the settings"),
        ("hookscope tap install", "write it to the host's own folder"),
    ),
    "tap status": (("hookscope tap status", "whether the tap is unchanged, and what it recorded"),),
    "tap events": (
        ("hookscope tap events", "the real events, newest last"),
        ("hookscope tap events --json", "with all fields"),
    ),
    "tap fire": (
        ("hookscope tap fire", "the newest event again"),
        ("hookscope tap fire --dry", "only show which handlers would run"),
    ),
    "tap save": (("hookscope tap save 3f2a morning", "save it for `fire` and `test`"),),
    "tap lists": (("hookscope tap lists", "unused subscriptions, and events without subscribers"),),
    "tap remove": (
        ("hookscope tap remove --dry-run", "what would be removed"),
        ("hookscope tap remove", "remove it completely"),
    ),
    "trust": (("hookscope trust ./hooks", "allow the handlers of this folder to run"),),
    "serve": (
        ("hookscope serve --open", "the console in the browser of this machine"),
        ("hookscope serve --port 0 --clean-env", "on a free port, with a service's environment"),
        ("hookscope serve --host 0.0.0.0 --token auto", "for other machines, with a token"),
    ),
    "verify": (
        ("hookscope verify", "compare with the installed host, hook by hook"),
        ("hookscope verify --yes --json", "as JSON, for programs"),
    ),
    "report": (
        ("hookscope report", "a zip file for a problem report, without secrets"),
        ("hookscope report trouble.zip --verify", "with the answers of the installed host"),
    ),
    "demo": (
        ("hookscope demo", "five small tasks, in a folder that is removed at the end"),
        ("hookscope demo tryout", "the same, in a folder that is kept"),
    ),
    "doctor": (
        ("hookscope doctor", "what was detected and from where"),
        ("hookscope doctor --json", "as JSON, for a report"),
    ),
    "keys": (
        ("hookscope keys", "every key of the console, and its id for keys.yaml"),
        ("hookscope keys --commands", "the equivalent shell commands"),
        ("hookscope keys --json", "as JSON, for programs"),
    ),
    "schema": (
        ("hookscope schema", "which files and documents have a schema"),
        ("hookscope schema event", "the schema of saved events, to be saved for your editor"),
        ("hookscope schema list-json", "the schema of what `hookscope list --json` prints"),
    ),
    "help": (
        ("hookscope help", "the topics of the manual"),
        ("hookscope help fire", "a topic, or a command"),
        ("hookscope help my hook never fires", "the sections about these words"),
        ("hookscope help --man > hookscope.1", "the whole manual as a man page"),
    ),
    "completion": (
        ('eval "$(hookscope completion bash)"', "in ~/.bashrc"),
        ('eval "$(hookscope completion zsh)"', "in ~/.zshrc"),
        ("hookscope completion fish | source", "in ~/.config/fish/config.fish"),
    ),
}

# Name → the line in `--help`. A command's module is imported when the command is called.
COMMANDS = {
    "list": "List all hooks, and why some would not run.",
    "info": "Show one hook: every check, precedence, metadata, history.",
    "why": "Show why a hook does not run on an event, and what fixes it. Runs nothing.",
    "check": "Count the ready hooks, and show what stops the others.",
    "lint": "Find mistakes in hooks, and show how to correct them.",
    "compare": "Compare the same hooks under several hosts.",
    "load": "Import all trusted handlers, and report what the host's loader would report.",
    "events": "Show the host's events: when they are sent, their fields, their subscribers.",
    "plan": "Show which handlers would run for an event, in order. Runs nothing.",
    "fire": "Fire an event, and show what each handler did.",
    "dap": "Debug handlers from an editor (Debug Adapter Protocol).",
    "sequence": "Fire a sequence of events, as a host sends them.",
    "replay": "Fire an earlier run again, and show what differs.",
    "test": "Fire saved events and sequences, and compare with their expectations.",
    "fuzz": "Fire unusual events, and find the smallest event that makes a hook fail.",
    "play": "Simulate a session, and show what hooks do at each event.",
    "new": "Create a working hook, pack or plugin, and a saved event to test it.",
    "fix": "Show what would fix a hook, as a diff; write it on request.",
    "enable": "Switch a hook on in the host's settings.",
    "disable": "Switch a hook off in the host's settings.",
    "undo": "Undo the last change that Hookscope made to your files.",
    "install": "Install a hook or a pack, after a preview.",
    "update": "Update installed packs.",
    "uninstall": "Remove a pack: revert exactly what its install did.",
    "packs": "List installed packs, and their files that have changed since the install.",
    "log": "Show the runs of this workspace, and their results.",
    "pin": "Pin runs, so that they are never deleted.",
    "export": "Export runs as JSON lines, or one run as an HTML page.",
    "tap": "Record the real events of a running agent, and fire them again.",
    "trust": "Allow the handlers of a folder to run.",
    "serve": "Serve the console to a browser.",
    "keys": "List the console's keys, with your keys.yaml applied.",
    "demo": "Practise in a workspace where nearly every hook has a problem.",
    "doctor": "Show what was detected, from where, and what is missing.",
    "report": "Write a zip file for a problem report, with secrets masked.",
    "verify": "Compare Hookscope's answers with the installed host's own.",
    "schema": "Print the JSON Schema of a file that you write, or of what a command prints with --json.",
    "help": "Show a topic of the manual.",
    "completion": "Print the script for shell completion.",
}
# The parts of `--help`: the first command of each, and its heading.
HEADINGS = {
    "list": "Why a hook runs or not",
    "fire": "Fire, test and debug",
    "new": "Write and fix",
    "install": "Other people's hooks",
    "log": "Runs and real events",
    "trust": "Hookscope itself",
}
# The module of commands that share one. Each other command is in NAME_command.py.
COMMAND_FAMILIES = {
    **dict.fromkeys(("list", "info", "check"), "hook_commands"),
    **dict.fromkeys(("why", "plan"), "explanation_commands"),
    **dict.fromkeys(("enable", "disable"), "toggle_commands"),
    **dict.fromkeys(("install", "update", "uninstall", "packs"), "pack_commands"),
    **dict.fromkeys(("log", "pin"), "log_commands"),
    **dict.fromkeys(("doctor", "verify", "report"), "diagnosis_commands"),
    **dict.fromkeys(("serve", "dap"), "serve_commands"),
}
