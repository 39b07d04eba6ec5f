"""New hooks, packs, plugins and modules: a wish → the files that fulfil it → written as one change.

    wish → readers (who is to read it) → events (who sends them, what they carry) → texts → Sketched → written

All but `sketching` and `writing` is pure. The texts are ours, and nothing of the user's but names that were
checked stands in code.
"""
