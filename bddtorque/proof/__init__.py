"""What is proved of a compiled function: its certificate, its saturation, its distance to the true function."""
