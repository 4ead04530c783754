"""Running: from a configuration, a scheme and a trace to the report of the engine."""
