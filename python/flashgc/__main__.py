"""`python -m flashgc` is the command `flashgc`."""

from flashgc.cli import main

main()
