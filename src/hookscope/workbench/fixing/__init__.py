"""What opens the gates that a hook stands before: previewed, written through `changes`, taken back.

Recipes (recipes, headers, rejects) propose; `repairing` believes what the host's own rules find on an
overlaid disk (overlay, sketch). Nothing here writes.
"""
