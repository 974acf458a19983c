"""Hamilton, and Binder and Herzog: torques from data of different ages, their costs, schedules and faults."""
