"""Baselines of the machines: one processor per joint, look-up over positions, printed serial costs."""
