"""Traces: their statistics as text, as a page and as a figure."""
