"""Evaluators: a plan run as a program on words, the same words from every form."""
