"""Lathrop's machines as hardware: pipelines simulated step by step, processors, buffers, wires (F09, F12).

A stream of states of the PUMA 560 and of the Stanford arm goes through the systolic and the single-device form of both
recursions; one step is one multiplication or one addition. Torques that come out are compared with Newton-Euler.

    python experiments/lathrop_systolic.py [--quick]
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from reporting import EQUAL, Check, arguments, at_most, below, finish, save_figure, show_table, write_csv

import bddtorque as bt
from machines.lathrop.lathrop_torques import float_state
from machines.lathrop.linear_program import (
    INWARD_STEPS,
    LOAD_STEPS,
    Step,
    linear_program,
    outward_steps,
    program_inputs,
)
from machines.lathrop.logarithmic_program import INWARD_COMBINATION, OUTWARD_COMBINATION, logarithmic_program
from machines.lathrop.matrix_vector_processor import MICROPROGRAMS, initiation_steps
from machines.lathrop.prefix import sklansky
from machines.lathrop.systolic import Pipeline, one_node, one_tier, own_processor, pipeline, simulate
from machines.lathrop.vector_program import Times
from machines.lathrop.wiring import wires_by_group

INTERVAL = int(Times().sum(1, 3))


def measure(name: str, states: int) -> list[dict[str, object]]:
    """Run the four machines on a stream of states of one arm."""
    robot = bt.load_robot(name)
    kinds = [joint.kind.turns for joint in robot.joints]
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, states, len(kinds)))
    stream = [program_inputs(float_state(robot, q[k], qd[k], qdd[k])) for k in range(states)]
    true = bt.inverse_dynamics(robot, q, qd, qdd) - np.array([joint.rotor_inertia for joint in robot.joints]) * qdd
    outputs = [f"tau[{i + 1}]" for i in range(len(kinds))]
    linear, tree = linear_program(kinds, end_to_end=True), logarithmic_program(kinds, end_to_end=True)
    nodes = max(map(len, sklansky(len(kinds))))
    machines = {
        ("linear", "systolic"): pipeline(linear, Times(), own_processor),
        ("linear", "single device"): pipeline(linear, Times(), one_node),
        ("logarithmic", "systolic"): pipeline(tree, Times(), own_processor),
        ("logarithmic", "single device"): pipeline(tree, Times(), one_tier(nodes)),
    }
    rows = []
    for (form, way), machine in machines.items():
        least = machine.smallest_interval()
        for interval in sorted({least, INTERVAL} if way == "systolic" else {least}):
            ran = simulate(machine, stream, outputs, interval)
            found = np.array([[np.squeeze(values[each]) for each in outputs] for values in ran.values])
            rows.append(
                {
                    "arm": name,
                    "form": form,
                    "way": way,
                    "processors": machine.processors,
                    "latency": ran.done[0],
                    "interval": interval,
                    "found_interval": "/".join(map(str, sorted(set(np.diff(ran.done).tolist())))),
                    "buffers": ran.buffers,
                    "input_buffers": sum(ran.inputs_waiting.values()),
                    "busy": round(ran.busy, 3),
                    "error": float(np.abs(found - true).max() / np.abs(true).max()),
                }
            )
    return rows


def counted(steps: tuple[Step, ...]) -> int:
    return sum(primitive.processors for _, primitive, *_ in steps)


def table_6(n: int) -> list[dict[str, object]]:
    """Return LAT Table 6 from the operations of the nodes and the network of n links."""
    tiers = [len(tier) for tier in sklansky(n)]
    combinations, widest = sum(tiers), max(tiers)
    nodes = {
        "linear outward": counted(outward_steps(True)),
        "linear inward": counted(INWARD_STEPS),
        "log outward": counted(OUTWARD_COMBINATION) + counted(LOAD_STEPS),
        # one operation for the arm where the closed operator has two; T20 and T21 of the leaf
        "log inward": counted(tuple(step for step in INWARD_COMBINATION if step[4] != "arm")) + 1 + 2,
    }
    return [
        {
            "machine": name,
            "per node": each,
            "single device": each * (widest if "log" in name else 1),
            "systolic": each * (combinations + n if "log" in name else n),
        }
        for name, each in nodes.items()
    ]


def wires() -> list[dict[str, object]]:
    nodes = {
        "linear outward": outward_steps(True),
        "linear inward": INWARD_STEPS,
        "log outward, combination": OUTWARD_COMBINATION,
        "log outward, link loads": LOAD_STEPS,
        "log inward, combination": INWARD_COMBINATION,
    }
    rows = []
    for name, steps in nodes.items():
        groups = wires_by_group(steps)
        largest = max(groups, key=groups.get)
        by_group = " ".join(f"{group} {count}" for group, count in groups.items())
        rows.append(
            {"node": name, "wires": sum(groups.values()), "largest group": groups[largest], "by variable": by_group}
        )
    return rows


def draw(machine: Pipeline, states: int) -> None:
    """Draw when which node works for which state."""
    n = 6
    places = [f"outward {i}" for i in range(1, n + 1)] + [f"inward {i}" for i in range(n, 0, -1)]
    figure = Figure(figsize=(12, 5), layout="constrained")
    axis = figure.subplots()
    colours = ["tab:blue", "tab:orange", "tab:green", "tab:red"]
    for k in range(states):
        for operation in machine.program:
            start, length = machine.starts[operation.result] + k * INTERVAL, machine.durations[operation.result]
            if operation.group in ("w", "wd", "pdd", "f", "n"):
                axis.barh(
                    places.index(operation.place) + 0.16 * (k % 4) - 0.24,
                    length,
                    left=start,
                    height=0.15,
                    color=colours[k % 4],
                )
    for k in range(4):
        axis.barh(0, 0, color=colours[k], label=f"states {k + 1}, {k + 5}, ..")
    axis.set_yticks(range(len(places)), places)
    axis.set_ylim(len(places) - 0.5, -0.5)
    for k in range(states):
        done = machine.latency() + k * INTERVAL
        axis.axvline(done, color="grey", linewidth=0.8, linestyle=":")
    axis.set_xlim(0, machine.latency() + states * INTERVAL)
    axis.set_xlabel(
        "step (m = a = 1). Dotted: a torque set is there, every 1m + 3a = 4. "
        "Short inward bars: a link's own load, ahead of the wave"
    )
    axis.set_title("The linear systolic machine, six joints: waves of w, wd, pdd outward and f, n inward")
    axis.legend(fontsize=8, loc="upper right")
    save_figure("lathrop_systolic", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    rows = [row for name in ("puma560", "stanford") for row in measure(name, 6 if quick else 40)]
    show_table(rows)
    write_csv("lathrop_systolic", rows)
    sizes = table_6(6)
    print()
    show_table(sizes)
    write_csv("lathrop_table_6", sizes)
    print()
    found_wires = wires()
    show_table(found_wires)
    write_csv("lathrop_wires", found_wires)
    print()
    micro = [
        {"primitive": name, "steps": len(program), "next may begin after": initiation_steps(program)}
        for name, program in MICROPROGRAMS.items()
    ]
    show_table(micro)
    draw(pipeline(linear_program([True] * 6), Times()), 12)
    systolic = [row for row in rows if row["way"] == "systolic" and row["interval"] == INTERVAL]
    table = [[row["per node"], row["single device"], row["systolic"]] for row in sizes]
    printed = [[22, 22, 132], [8, 8, 48], [36, 108, 468], [13, 39, 169]]
    node = max(found_wires, key=lambda row: row["wires"])
    least = min(row["interval"] for row in rows if row["way"] == "systolic")
    finish(
        [
            Check("F09", "systolic, steps between torque sets (1m + 3a)", {row["found_interval"] for row in systolic},
                  {"4"}, {"4"}),
            Check("F09", "torques of the pipelines beside Newton-Euler", max(row["error"] for row in rows),
                  below(1e-12), EQUAL),
            Check("ours", "least interval, a latch after every processor", least, 3, note="faster than LAT's 4"),
            Check("F06", "latency of the linear pipeline, eq. (5), six joints", systolic[0]["latency"], 62, 62),
            Check("F12", "processors per node, single device, systolic", table, printed, printed),
            Check("LAT section 7", "wires of the largest group, a group being a variable",
                  max(row["largest group"] for row in found_wires), 18, at_most(50)),
            Check("LAT section 7", f"wires of the largest node ({node['node']})", node["wires"], 52, at_most(50),
                  note="by our count; refuted if a group is a node"),
            Check("LAT section 7", "steps of a dot product on a module", len(MICROPROGRAMS["MV"]), 3, 3),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
