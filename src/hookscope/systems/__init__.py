"""The kinds of hook systems: folders (HOOK.md), streams (Eve), plugins (OpenClaw).

Each finds hooks, ranks them, judges them and names the policy of their events. Which rules apply is
a dialect's choice: a system is a frozen value made of named functions. Pure but for reading disk
through `Surroundings.files`; knows no host by name.
"""
