"""What is wrong with hooks, and what to do: one file a rule, each with its documentation, example and check.

The way: a hook's files are read once (`reading`), its handler's source becomes facts (`source`), and each
rule, a pure function, says what it finds of the two (`linting`). Nothing is imported or run; scripts are
parsed in a child process of their own.
"""
