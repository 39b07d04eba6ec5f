"""Packs for one host: planned, shown, and put in place when somebody says so.

desk = PackDesk(bench)
planned = desk.plan_install("./acme-hooks.tgz", progress=progress)   # fetched, checked; nothing is written
...                                                              # shown, asked
desk.carry_out(planned, progress)                                  # all of it, or nothing
"""
