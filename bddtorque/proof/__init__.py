"""Proofs: the certificate, saturation, and the distance to the true function."""
