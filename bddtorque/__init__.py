"""bddtorque."""
