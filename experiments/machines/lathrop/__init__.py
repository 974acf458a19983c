"""Lathrop 1985: inverse dynamics in O(n) and O(log n), and pipelined."""
