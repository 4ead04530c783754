"""Drives that are served as block devices."""
