"""Numbers and tables in readable form."""
