"""Proofs by other people's tools: what a plan or its exported code claims, written for Gappa, Coq and solvers."""
