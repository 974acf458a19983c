"""Forward dynamics on one processor: articulated and composite bodies, conjugate gradients, the inertia matrix."""
