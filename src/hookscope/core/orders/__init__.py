"""Does it matter in which order handlers run, and who disturbs whom?

The way: orders to be tried (`ways`) → what a run in one of them came to, thing by thing (`facts`) → a search
that asks for runs, halves the way between two orders that differ and leaves out who has no part in it
(`search`) → two neighbours, with the runs that show it (`findings`) → a sentence (`words`). Pure: somebody
else fires.
"""

LEAST = 4  # fires that tell anything: as registered twice, the other way round, and that once more
