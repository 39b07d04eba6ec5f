"""Packs for one host: planned, shown, and put in place when somebody says so.

desk = PackDesk(bench)
planned = desk.plan_install("./acme-hooks.tgz", course=course)   # fetched, checked; nothing is written
...                                                              # shown, asked
desk.carry_out(planned, course)                                  # all of it, or nothing
"""
