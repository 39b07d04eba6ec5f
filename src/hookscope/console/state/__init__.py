"""The console's state, the messages that change it, and the rows and entries it holds.

No widget and no call to the workbench.
"""
