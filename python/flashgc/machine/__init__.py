"""The machine: its processors, and packages that only some commands need."""
