"""The plan: wires and blocks, their interpreter, their truth tables and their error bound."""
