"""Which key does what: the defaults of all bindings, presets, and the user's `keys.yaml` laid over them.

names.py     a key as people write it, and as Textual names it
actions.py   every action that a key has, and in which room of the screen
presets.py   `default` and `vim`
resolve.py   pure: defaults, preset and wishes → the keys in force, and what is wrong with the wishes
listing.py   what `hookscope keys` prints
"""
