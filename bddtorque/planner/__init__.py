"""From a graph to a plan: one file per strategy and target."""
