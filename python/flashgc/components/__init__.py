"""Components: a drive in another simulator, which has the clock."""
