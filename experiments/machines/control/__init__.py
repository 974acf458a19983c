"""Control with torques from old data or in words: errors along a motion, closed loops, limits of stability."""
