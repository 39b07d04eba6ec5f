"""The gates that several kinds of hook systems share. A file has the checks, the evidence and the GateKind.

A gate of only one kind of hook system is in the folder of that kind; gates of the engine are in `engine`.
To add a gate, write its file here. Its `guide_order` puts it among the gates of the guides; a shipped program
checks it if `RULES` in its dialect passes it to `rules_of`.
"""
