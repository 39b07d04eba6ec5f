"""One controller for each kind of work of the console.

A controller calls the workbench in threads and posts messages; it draws nothing.
"""
