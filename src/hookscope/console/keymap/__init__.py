"""Which key does what: actions, presets, the user's `keys.yaml`, and what can be done now.

Nothing here changes the console's state.
"""
