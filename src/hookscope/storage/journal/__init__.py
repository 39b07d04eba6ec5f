"""The journal: the durable record of events, results, loads, changes and notices. One SQLite file.

One thread of a Journal owns the writing connection; every read opens its own and closes it. `close` writes
everything pending, and joins the thread.

Guarantees: a run's id is returned once its event is on disk. Secrets are masked before they are written. A
run names the process that started it, which tells interrupted runs from running ones. Several
processes can write to one file. A file that cannot be used is left unchanged, and reported.
"""
