"""What the machines are compared with: one processor per joint, look-up over positions, printed serial costs."""
