"""Results of runs: their metrics, the figures computed from them, and both in words."""
