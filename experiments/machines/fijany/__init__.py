"""Fijany and Bejczy: forward dynamics on a triangle of processors, and torques on the same array."""
