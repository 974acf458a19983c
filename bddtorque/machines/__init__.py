"""The parallel machines of the literature: running models, checked against Newton-Euler and counted.

Operation counts, critical paths and schedules are measured on what a machine did, never typed in from a paper; what the
papers print is only compared with. docs/papers.md tells what was found.

Machines and peers that no command runs are with the scripts that do, in experiments/papers/.

- Shared: `graph_tasks` (the tasks of a traced graph).
- Lathrop (inverse dynamics in O(n), O(log n), and piped): `lathrop_*`; programs of vector operations in
  `vector_program`, pipelines in `systolic`, the network in `prefix`. What he compares
  with: `horn_raibert` (look-up over positions).
- Fijany and Bejczy (forward dynamics on a triangle of processors): `fijany_*`, `triangular_array`, `owned_words`.
- Hamilton and kin (torques from data of different ages): `speculation_*`.
- All of them on one arm, in one cost model (`cost_model`): `comparison`, tables in `table_machines`; run on random
  states by `machine_torques`, drawn by `machine_figure`; for it, torques on the triangle in `fijany_torques`.
"""
