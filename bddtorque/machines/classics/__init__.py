"""What the machines are compared with: look-up over positions, one processor per joint, serial costs."""
