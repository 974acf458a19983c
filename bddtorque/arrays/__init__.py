"""The parallel machines of the literature: running models, each validated against Newton-Euler and counted.

Every machine is written over any number type, so that it runs on floats (one state or arrays of states) and under the
tracer; operation counts, critical paths and schedules are measured on what it did, never typed in from a paper.

Shared by all of them:

- `scheduling`: tasks, longest paths, list schedules, Gantt pictures; `branch_and_bound`: the best schedule, or how far
  from it one can be; `graph_tasks`: the tasks of a traced graph.

Lathrop's machines (Lathrop 1985) are in `lathrop_*`, the prefix network they need in `prefix`; what they are compared
with is in `serial_costs` (his Table 1), `horn_raibert` (configuration-space look-up) and `luh_lin` (one processor a
joint).
"""
