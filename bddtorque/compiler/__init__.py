"""The road from a robot or a function to a proved model; `verify` walks it again."""
