"""`python -m hookscope`."""

from hookscope.cli import main

main()
