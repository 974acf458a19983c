"""Hamilton and kin: torques from data of different ages, and what that does to control."""
