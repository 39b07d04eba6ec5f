"""Hook systems of hosts, and dialects.

Runs no handler and writes nothing; only `dialects` names a host. Sources such as `disc-03`, `eve 22` and
`milady 04` in this folder are recorded cases: see `tests/conformance/cases`.
"""
