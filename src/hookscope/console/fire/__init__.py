"""The Fire pane: compose a test event, see who would run, fire it, read what each handler did."""
