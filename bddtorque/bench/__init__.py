"""Speed, measured as ratios to peers in one interleaved run; never in timed tests."""
