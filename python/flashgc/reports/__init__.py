"""Reports: what a run returns, saves in a folder, and reads again."""
