"""Reports: the results of a run, saved in a folder, and read again."""
