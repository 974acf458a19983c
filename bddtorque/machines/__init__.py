"""The parallel machines of the literature: running models, checked against Newton-Euler and counted.

Operation counts, critical paths and schedules are measured on what a machine did, never typed in from a paper; what the
papers print is only compared with. docs/papers.md tells what was found.

- Shared: `scheduling` (tasks, longest paths, list schedules, Gantt pictures), `branch_and_bound` (the best schedule, or
  how far from it one can be), `graph_tasks` (the tasks of a traced graph).
- Lathrop (inverse dynamics in O(n), O(log n), and piped): `lathrop_*`; programs of vector operations in
  `vector_program`, pipelines in `systolic`, his hardware in `matrix_vector_processor`, the network in `prefix`. What he
  compares with: `serial_costs`, `horn_raibert` (look-up over positions), `luh_lin` (one processor a joint).
- Fijany and Bejczy (forward dynamics on a triangle of processors): `fijany_*`, `triangular_array`, `owned_words`; its
  serial peers `articulated_body`, `composite_body`, `conjugate_gradient`.
- Hamilton and kin (torques from data of different ages): `speculation_*`, `timetables`, `faults`, and what it does to
  control in `open_loop`, `closed_loop*` and `frozen_stability`; what each processor computes in `speculation_graphs`.
- All of them on one arm, in one cost model (`cost_model`): `comparison`, tables in `table_machines`; run on random
  states by `machine_torques`, drawn by `machine_figure`; for it, torques on the triangle in `fijany_torques`.
"""
