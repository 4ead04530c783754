"""Estimates of papers, which need no run: the longest wait, the cost of registers."""
