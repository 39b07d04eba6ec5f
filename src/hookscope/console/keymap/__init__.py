"""Which key does what: actions, presets, the user's `keys.yaml`, and the available actions.

Nothing here changes the console's state.
"""
