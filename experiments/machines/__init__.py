"""Machines of the literature: working models of each, checked against Newton-Euler and counted.

Operation counts, critical paths and schedules are measured on what a machine did, never typed in from a paper; what the
papers print is only compared with. docs/papers.md tells what was found. Each family has a folder:

- `lathrop`: inverse dynamics in O(n) and O(log n), and pipelined (Lathrop 1985).
- `classics`: what Lathrop compares with: Luh and Lin (one processor per joint, with branch and bound for the best
  schedule), Horn and Raibert (look-up over positions), and the printed costs of serial methods.
- `fijany`: forward dynamics on a triangle of processors (Fijany and Bejczy), and torques on the same array.
- `forward`: forward dynamics on one processor, which that array is compared with.
- `hamilton`: torques from data of different ages (Hamilton, Binder and Herzog).
- `control`: what torques from old data, and torques in words, do to a control loop.
- `boolean`: the one-bit processor of the Boolean/BDD paper, beside a word-wide one.

All of them on one arm, in one cost model (`cost_model`): `comparison`, with compiled tables in `table_machines`; run on
random states by `machine_torques`, drawn by `machine_figure`. Shared by the families: `graph_tasks` (the tasks of a
traced graph) and `gantt` (schedules drawn). `.importlinter` beside this folder says which may import which.
"""
