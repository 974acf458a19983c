"""Decision diagrams of truth tables, the lowered forms that evaluators run, and what they cost.

The road: a `Table` is reduced to a `Diagram` under a good variable order (`reduce`), and lowered to forms (`lower`),
each checked against the table on every entry. Nothing here knows of robots or plans; `dd` is imported only when an
engine is made, so that loading and running a compiled model needs NumPy and Numba alone.
"""
