"""The gates that several kinds of hook system share: a file each, with checks, evidence and GateKind.

A gate of a single kind is in the folder of that kind, and a gate that the engine makes is in `engine`.
To add a gate, write its file here. Its `guide_order` puts it among the gates of the guides; a shipped program
checks it if `RULES` in its dialect passes it to `rules_of`.
"""
