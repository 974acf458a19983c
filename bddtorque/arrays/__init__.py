"""The parallel machines of the literature."""
