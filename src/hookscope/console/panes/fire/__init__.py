"""The Fire pane: compose a test event, see its plan, fire it, and read what each handler did.

It requests work from its screen and never calls the workbench's runs.
"""
