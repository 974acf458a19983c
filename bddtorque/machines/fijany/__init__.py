"""Fijany and Bejczy: forward dynamics on a triangle of processors, and its serial peers."""
