"""Machines and peers of the literature that only the experiments run; those of `bddtorque machines` are in the package.

- Boolean/BDD: `one_bit` (the processor of its section IV), `word_wide` (what that is compared with).
- Lathrop: `logarithmic` (his second recursion), `matrix_vector_processor` (his hardware), `lathrop_wiring`, and what he
  compares with in `serial_costs`.
- Luh and Lin: `luh_lin` (one processor a joint), `branch_and_bound` (the best schedule, or how far from it one can be).
- Fijany and Bejczy: `fijany_machine` and `solve` (forward dynamics on their array), `fijany_costs`, and its serial
  peers `serial`, `articulated_body`, `composite_body` and `conjugate_gradient`, counted by `forward_counts` and
  `inertia_ladder` on `generic_arms`.
- Hamilton and kin: `speculation_costs`, `timetables`, `faults`, `decoupled`, and what old data do to control in
  `open_loop`, `closed_loop`, `closed_loop_words` and `frozen_stability`.
- Schedules drawn: `gantt`.
"""
