"""The last links of a hook's chain, behind its gates: loaded, registered, an event has come, it ran.

Gates say what a look at the disk tells. These links are what has happened: in this workbench's workers, in
the journal's runs and loads, in what taps recorded. Asking runs nothing, and reads a few indexed rows for
one hook; nobody asks for a whole list.
"""
