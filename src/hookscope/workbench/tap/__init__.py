"""The tap: a small hook in a host's own folder that keeps every real event in a file, and what is read there.

`places` says where taps stand and what they are made of, `installing` puts them there and takes them away,
`spool` reads what they wrote, `events` makes events of it, `lists` compares it with who listens.
"""
