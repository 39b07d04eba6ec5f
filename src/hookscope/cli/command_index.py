"""Every command's line of help and its examples, available without importing the command."""

from __future__ import annotations

from collections.abc import Mapping

Example = tuple[str, str]

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "": (
        ("hookscope", "open the console on the hooks of this folder"),
        ("hookscope list", "what there is, and why some would not run"),
        ("hookscope help start", "the first chapter of the manual"),
    ),
    "list": (
        ("hookscope list", "all hooks, by the folder that they come from"),
        ("hookscope list --eligible", "only those whose requirements are met"),
        ("hookscope list -v --clean-env", "what a service would miss, check by check"),
    ),
    "info": (
        ("hookscope info greet", "every check of one hook"),
        ("hookscope info greet --places", "where each missing thing was looked for"),
        ("hookscope info greet --json", "the same for a program"),
    ),
    "check": (
        ("hookscope check", "how many are ready, and what stops the others"),
        ("hookscope check -v", "each shut check with what nearly was it"),
    ),
    "lint": (
        ("hookscope lint", "mistakes in all hooks of the host"),
        ("hookscope lint hooks", "those below one folder"),
        ("hookscope lint --explain all", "every rule in a line"),
    ),
    "compare": (
        ("hookscope compare", "the hooks that hosts read differently"),
        ("hookscope compare greet", "one hook under all hosts"),
        ("hookscope compare --surroundings here,clean", "here, and in a bare service"),
    ),
    "load": (
        ("hookscope load", "import every trusted handler"),
        ("hookscope load greet", "only this one"),
    ),
    "events": (
        ("hookscope events", "all events of the host"),
        ("hookscope events command:new", "when it comes, with which fields, who listens"),
        ("hookscope events --saved", "the saved events of this workspace"),
    ),
    "plan": (
        ("hookscope plan command:new", "who would run, in order, and who not"),
        ("hookscope plan command:new --clean-env", "the same in a service"),
    ),
    "fire": (
        ("hookscope fire command:new", "fire it, and see what each handler did"),
        ("hookscope fire command:new --only greet", "at one hook"),
        ("hookscope fire .hookscope/events/greet.yaml", "an event that was saved"),
        ("hookscope fire command:new --repeat 20 --shuffle", "does the order matter, and who disturbs whom"),
    ),
    "dap": (("hookscope dap", "what an editor starts; `hookscope help debugging` has what each wants"),),
    "sequence": (
        ("hookscope sequence", "which there are"),
        ("hookscope sequence new", "as the host sends them for /new"),
    ),
    "replay": (
        ("hookscope replay", "the last run again, and what is different"),
        ("hookscope replay 12", "run 12 again"),
    ),
    "test": (
        ("hookscope test", "fire all saved events, and compare each run"),
        ("hookscope test --watch", "again on every save"),
        ("hookscope test --sandbox", "on copies of your files, and what handlers did to them"),
    ),
    "fuzz": (
        ("hookscope fuzz command:new --sandbox", "strange events, on copies of your files"),
        ("hookscope fuzz command:new --sandbox --seed 7", "the same ones again"),
    ),
    "play": (
        ("hookscope play hello --dialect eve", "a session of one message"),
        ("hookscope play hello again --dialect eve", "of two"),
    ),
    "new": (
        ("hookscope new greet", "a hook that works, in this workspace"),
        ("hookscope new greet --event command:new --language python", "for this event, in Python"),
        ("hookscope new guard --plugin --dry-run", "show the files of a plugin, write nothing"),
    ),
    "fix": (
        ("hookscope fix greet", "what would open its shut checks, as a diff"),
        ("hookscope fix greet --apply", "write it"),
    ),
    "enable": (
        ("hookscope enable greet", "switch it on in the host's settings"),
        ("hookscope enable greet --dry-run", "show the edit and what else it changes"),
    ),
    "disable": (
        ("hookscope disable greet", "switch it off"),
        ("hookscope disable greet --dry-run", "show the edit, write nothing"),
    ),
    "undo": (
        ("hookscope undo --dry-run", "what would be taken back"),
        ("hookscope undo", "take back the last change"),
    ),
    "install": (
        ("hookscope install ./greet --dry-run", "everything that would be written"),
        ("hookscope install ./greet --link", "copy nothing, work on it here"),
        ("hookscope install @acme/hooks@1.2.3 --pin --yes", "one version of npm, from a script"),
    ),
    "update": (
        ("hookscope update --all --dry-run", "what is newer, and what it would change"),
        ("hookscope update acme-hooks", "one pack, after a look at it"),
    ),
    "uninstall": (
        ("hookscope uninstall acme-hooks --dry-run", "what would go"),
        ("hookscope uninstall acme-hooks", "take back exactly what its install did"),
    ),
    "packs": (
        ("hookscope packs", "what is installed, and what has changed on disk since"),
        ("hookscope packs --json", "the same for a program"),
    ),
    "log": (
        ("hookscope log", "what was fired here"),
        ("hookscope log --failed --since 2h", "what went wrong lately"),
        ("hookscope log --hook greet", "the runs of one hook"),
        ("hookscope log 12", "all that happened in run 12"),
    ),
    "pin": (
        ("hookscope pin 12", "keep run 12 for good"),
        ("hookscope pin 12 --off", "no longer"),
    ),
    "export": (
        ("hookscope export 12 --html run.html", "one run as a page"),
        ("hookscope export --failed --jsonl failed.jsonl", "lines of JSON"),
    ),
    "tap": (
        ("hookscope tap install", "keep every real event from now on"),
        ("hookscope tap events", "those that came"),
        ("hookscope tap lists", "who listens to what never came"),
    ),
    "tap install": (
        ("hookscope tap install --dry-run", "the files and the edit of the settings"),
        ("hookscope tap install", "put it into the host's own folder"),
    ),
    "tap status": (("hookscope tap status", "does it stand, was anything recorded"),),
    "tap events": (
        ("hookscope tap events", "the real events, newest last"),
        ("hookscope tap events --json", "with all their fields"),
    ),
    "tap fire": (
        ("hookscope tap fire", "the newest one again"),
        ("hookscope tap fire --dry", "only say who would run"),
    ),
    "tap save": (("hookscope tap save 3f2a morning", "keep it as a saved event"),),
    "tap lists": (("hookscope tap lists", "never came, and nobody listens"),),
    "tap remove": (
        ("hookscope tap remove --dry-run", "what would go"),
        ("hookscope tap remove", "take it away to the last byte"),
    ),
    "trust": (("hookscope trust ./hooks", "allow the handlers of this folder to run"),),
    "serve": (
        ("hookscope serve --open", "the console in the browser of this machine"),
        ("hookscope serve --port 0 --clean-env", "at a free port, as a service would see it"),
        ("hookscope serve --host 0.0.0.0 --token auto", "for other machines, with a token"),
    ),
    "verify": (
        ("hookscope verify", "does the installed host agree with Hookscope, hook by hook"),
        ("hookscope verify --yes --json", "the same for a program"),
    ),
    "report": (
        ("hookscope report", "a zip file for a problem report, without secrets"),
        ("hookscope report trouble.zip --verify", "with the answers of the installed host"),
    ),
    "demo": (
        ("hookscope demo", "five small tasks, in a folder that is removed at the end"),
        ("hookscope demo tryout", "the same in a folder that stays"),
    ),
    "doctor": (
        ("hookscope doctor", "what was detected and from where"),
        ("hookscope doctor --json", "to go with a report"),
    ),
    "keys": (
        ("hookscope keys", "every key of the console, and its id for keys.yaml"),
        ("hookscope keys --commands", "what does the same in a shell"),
        ("hookscope keys --json", "the same for a program"),
    ),
    "help": (
        ("hookscope help", "the topics of the manual"),
        ("hookscope help fire", "a topic, or a command"),
    ),
    "completion": (
        ('eval "$(hookscope completion bash)"', "in ~/.bashrc"),
        ('eval "$(hookscope completion zsh)"', "in ~/.zshrc"),
        ("hookscope completion fish | source", "in ~/.config/fish/config.fish"),
    ),
}


# Name → the line in `--help`. A command's module is imported when the command is called.
COMMANDS = {
    "list": "What hooks there are, and why some would not run.",
    "info": "One hook: every check, which copy wins, what it declares.",
    "check": "How many hooks are ready, and what stops the others.",
    "lint": "What is wrong with hooks, and what to do about it. Runs nothing.",
    "compare": "The same folders under several hosts: what differs, and what to change.",
    "load": "Import all trusted handlers and report as the host's loader does.",
    "events": "What the host sends, when, with which fields, and who listens.",
    "plan": "Who would run for an event, in order, and who not. Runs nothing.",
    "fire": "Fire an event and see what each handler did.",
    "dap": "For editors: debug handlers by the Debug Adapter Protocol.",
    "sequence": "Fire events one after another, as a host sends them or a file says.",
    "replay": "Fire the event of an earlier run again, and say what is different.",
    "test": "Fire saved events and sequences, and say where a run is not what its file expects.",
    "fuzz": "Fire strange events at hooks, and find the smallest that they fail at.",
    "play": "Play a whole session: send messages, and see what hooks do at each event.",
    "new": "Write a hook that works, with a saved event that tries it; a pack, a plugin too.",
    "fix": "What would open the checks that stop a hook: shown as a diff, written on demand.",
    "enable": "Switch a hook on in the host's settings.",
    "disable": "Switch a hook off in the host's settings.",
    "undo": "Take back the last change that Hookscope made to your files.",
    "install": "Put a hook or a pack into the host's folder: shown first, then all of it or nothing.",
    "update": "Bring installed packs up to date.",
    "uninstall": "Take back exactly what an install did.",
    "packs": "What is installed, from where, and what has changed on disk since.",
    "log": "What was fired in this workspace, and what came of it.",
    "pin": "Keep runs whatever else is cleared away.",
    "export": "Runs as lines of JSON, or one as a page of HTML, to be read elsewhere.",
    "tap": "Keep the real events of a running agent, and fire them again.",
    "trust": "Allow the handlers of a folder to run.",
    "serve": "The console in a browser.",
    "keys": "The console's keys: actions, meanings, and what keys.yaml makes of them.",
    "demo": "Practise in a workspace where something is wrong with nearly every hook.",
    "doctor": "What was detected and from where, and what is missing.",
    "report": "Write a zip file about this host for a problem report, without secrets.",
    "verify": "Compare Hookscope's answers with those of the installed host's own program.",
    "help": "The manual, a topic at a time.",
    "completion": "The script that completes commands, hooks, events and packs in a shell.",
}
