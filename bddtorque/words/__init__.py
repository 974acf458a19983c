"""Fixed-point formats, the interface of a model, rounding, exact values, laws and values with an error radius."""
