"""The float truth: Newton-Euler, what follows from it, and its separate terms."""
