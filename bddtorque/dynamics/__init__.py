"""Newton-Euler in floats, the separate terms of the torques, and their traces into graphs."""
