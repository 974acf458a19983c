"""One expression graph for whatever was computed, whoever wrote the equations."""
