"""`flashgc fio`: fio's command line, and its output from a simulated drive.

`arguments` reads the command line, `samples` the requests of the run, `figures` their statistics,
and `results`, `plain` and `logs` write what fio writes.
"""
