"""The only code that writes users' files. An edit is previewed as a Change, applied, and can be undone.

    change = change_of(file, [Edit(file, ("hooks", "enabled"), True, "hooks.enabled: true")])
    print(change.preview())
    apply_change(change)

Guarantees:

- An edit changes only the bytes of its value; the result is parsed again before it is used.
- A file that has changed since the change was made is never overwritten: Stale, and nothing is written. What
  another program writes at the moment of the replacement is restored.
- A file that is blank, open for writing elsewhere, read-only, or has several names is refused.
- Readers see the complete old or new file, even after a crash. The only exception is reported:
  `Applied.in_place`.
- Links, mode and owner stay.
- Every refusal is a ChangeError: one sentence, with the next step.
"""
