"""Files: text that is read, results that are written whole or not at all, and TOML."""
