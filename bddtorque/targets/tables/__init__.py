"""Target ``tables``: look-ups, diagrams and sums; nothing is multiplied."""
