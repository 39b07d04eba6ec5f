"""Colours: our own themes, what colour-blind eyes make of them, and the user's theme files.

colours.py   contrast, and colours as seen where a kind of cone is missing. Pure
ours.py      the themes that come with the console
user.py      a file of `themes/*.yaml` → a theme
wardrobe.py  which theme is worn
"""
