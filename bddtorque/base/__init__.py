"""Errors, bounded reading, atomic writing, archives, plain data, Numba decorators."""
