"""The whole road from a source to a proved model, and back: verify."""
