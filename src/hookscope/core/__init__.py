"""The types of Hookscope, and the way from a look to a plan.

The way of the data: open_host → look (folders → candidates → winners → gates = inventory) →
registry → plan → dispatch → run. Everything here is frozen or pure. Disk is read through
`Surroundings.files` only; nothing is written, nothing runs, no host is known by name.
"""
