"""Fitted workloads of traces: a workload of distributions, fitted to a real trace.

1. `requests` reads a trace into columns.
2. `places` finds data that is rewritten often, how long ago it was written, and how places
   lie among pages that are only read.
3. `bursts` finds bursts of requests, their kinds, and the course over time.
4. `config` writes both as a configuration.
5. `check` runs trace and fitted workload on the same drive.
"""
