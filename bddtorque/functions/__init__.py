"""Functions of words that need not be robots: laws with proved values, measured samples, any callable, as tables."""
