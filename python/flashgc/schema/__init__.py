"""The keys of every result, declared once: attributes, types and the JSON Schema."""
