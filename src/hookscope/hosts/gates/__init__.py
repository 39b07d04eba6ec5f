"""The gates that kinds of hook systems share, one file each: its checks, its evidence and its GateKind.

A gate of one kind of hook systems is in that kind's folder, and one that the engine makes is in `engine`.
To add a gate, write its file here, and name it in `rules_of` of each dialect whose host checks it.
"""
