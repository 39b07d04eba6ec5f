"""The keys that a HOOK.md's header has. Source: guides 000, 001 and 004."""

TOP = frozenset({"name", "description", "homepage", "metadata"})
OWN = frozenset(  # below the host's name
    {"events", "always", "hookKey", "emoji", "homepage", "export", "os", "requires", "install"}
)
REQUIRES = frozenset({"bins", "anyBins", "env", "config"})

# At the top they are no key; what to do with those that are none anywhere.
EVENTS = "Events stand in `events` below the host's metadata."
MISPLACED = {
    **dict.fromkeys(OWN - TOP, ""),
    "trigger": EVENTS,
    "triggers": EVENTS,
    "event": EVENTS,
    "hooks": EVENTS,
    "hook": EVENTS,
    "priority": "Leave it out: hooks run in the order in which they are found.",
    "channel": "Leave it out, and look at the event's context in the handler.",
    "filter": "Leave it out, and look at the event in the handler.",
    "enabled": "Leave it out: a hook is switched on and off in the host's settings.",
}
