"""From a traced quantity to a plan: one folder per target."""
