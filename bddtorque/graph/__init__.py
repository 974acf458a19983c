"""Expression graphs: tracer, source generation, interval ranges."""
