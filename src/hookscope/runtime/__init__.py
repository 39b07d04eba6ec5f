"""Running handlers: dispatch, executors, worker processes and the sandbox.

This package does not depend on the console, the journal or a particular host.
"""
