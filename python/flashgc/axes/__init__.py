"""Axes of runs, for reproductions and sweeps alike: one syntax, one reader.

1. `forms` has the tables of a TOML file, `choice` their meaning; `read` turns one into the other.
2. `layers` joins one choice of each axis to a request for the engine, with its key.

docs/sweeps.md defines the syntax.
"""
