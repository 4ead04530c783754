"""Pages: a report as one HTML page, with the command that makes it again."""
