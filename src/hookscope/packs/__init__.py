"""Packs: a stranger's package read in memory, checked as a whole, put in place as one transaction.

The way: spec (`specs`) → fetched (`sources`) → Tree, checked before anything is written (`archives`,
`folders`, `names`) → what it is (`package`) → folders and settings swapped at once (`transaction`),
written down so that it can be taken back (`record`). Knows no host: what a host wants is handed in.
"""
