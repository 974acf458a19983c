"""Evaluators: run a plan on words, the same words from every form."""
