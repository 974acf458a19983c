"""Lathrop's linear and logarithmic forms against Newton-Euler, in every quantity (F01 to F04, F11).

Random chains of 1 to 9 turning, sliding and mixed joints with moving base and tip wrench, and every built-in arm. The
network of LAT Fig. 5 is drawn.

    python experiments/lathrop_forms.py [--quick]
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from reporting import EQUAL, Check, Rule, above, arguments, below, finish, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.robots.parts import Frame, Joint, Link
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import ArmState, BaseMotion, TipWrench
from machines.lathrop.lathrop_torques import float_state, lathrop_torques
from machines.lathrop.linear import LinkQuantities, linear_recursion
from machines.lathrop.logarithmic import (
    IntervalMotion,
    combine_load,
    combine_motion,
    load_leaves,
    logarithmic_recursion,
    motion_leaves,
    prefixes,
    serial,
)
from machines.lathrop.prefix import intervals, sklansky
from machines.vectors import add, cross, float_triple, matrix_times, transposed

KINDS = {"turning": ("revolute",), "sliding": ("prismatic",), "mixed": ("revolute", "prismatic")}
FORMS = {"linear": linear_recursion, "logarithmic": logarithmic_recursion}
ARMS = ("planar2r", "planar3r_a", "planar3r_b", "scara", "stanford", "puma560", "ur5", "panda")


def random_chain(n: int, kinds: tuple[str, ...], random: np.random.Generator) -> Robot:
    """Return a chain with frames, bodies and gravity that lie anyhow."""
    joints, links = [], []
    for i in range(n):
        R, p = rotation(random), random.uniform(-0.5, 0.5, 3)
        joints.append(Joint(f"joint {i + 1}", kinds[i % len(kinds)], matrix(R, "R"), vector(p, "p")))
        axes, mass = rotation(random), random.uniform(0.5, 5)
        moments = mass * random.uniform(0.05, 0.3, 3) ** 2
        inertia = axes @ np.diag(moments.sum() - moments) @ axes.T
        links.append(Link(f"link {i + 1}", mass, vector(random.uniform(-0.4, 0.4, 3), "c"), matrix(inertia, "J")))
    tip = Frame(matrix(rotation(random), "tip"), vector(random.uniform(-0.5, 0.5, 3), "tip"))
    return Robot("random", tuple(joints), tuple(links), vector(random.uniform(-10, 10, 3), "g"), tip)


def rotation(random: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return Q * np.linalg.det(Q)


def moving_state(robot: Robot, random: np.random.Generator, count: int) -> ArmState:
    states = random.uniform(-3, 3, (3, count, robot.degrees_of_freedom))
    ends = random.uniform(-2, 2, (5, 3))
    return float_state(
        robot, *states, BaseMotion(*map(float_triple, ends[:3])), TipWrench(*map(float_triple, ends[3:]))
    )


def largest(values: object) -> float:
    if isinstance(values, tuple | list):
        return max(map(largest, values))
    return float(np.max(np.abs(values)))


def relative(found: object, expected: object) -> float:
    """Return the largest difference of two structures, relative to the largest value of the expected one."""

    def difference(one: object, other: object) -> float:
        if isinstance(one, tuple | list):
            return max(map(difference, one, other))
        return float(np.max(np.abs(np.subtract(one, other))))

    return difference(found, expected) / max(1.0, largest(expected))


def misread(left: IntervalMotion, right: IntervalMotion) -> IntervalMotion:
    """Combine as the scanned text reads, 2S + Q for 2(S + Q)."""
    correct = combine_motion(left, right)
    missing = cross(matrix_times(transposed(right.W), left.w), right.Q)
    return correct._replace(pdd=add(correct.pdd, tuple(-each for each in missing)))


def bracketed(leaves: list, combine: object, random: np.random.Generator) -> object:
    if len(leaves) == 1:
        return leaves[0]
    cut = int(random.integers(1, len(leaves)))
    return combine(bracketed(leaves[:cut], combine, random), bracketed(leaves[cut:], combine, random))


def chains(repeats: int) -> list[dict[str, object]]:
    """Return a row for each length and kind of chain: the largest differences found."""
    random, rows = np.random.default_rng(1985), []
    for label, kinds in KINDS.items():
        for n in range(1, 10):
            row = {
                "joints": label,
                "n": n,
                "newton_euler": 0.0,
                "logarithmic": 0.0,
                "bracketing": 0.0,
                "misread_pdd": 0.0,
            }
            for _ in range(repeats):
                robot = random_chain(n, kinds, random)
                state = moving_state(robot, random, 4)
                linear = linear_recursion(state)
                q, qd, qdd = random.uniform(-3, 3, (3, 4, n))
                row["newton_euler"] = max(
                    row["newton_euler"],
                    relative(lathrop_torques(robot, q, qd, qdd), bt.inverse_dynamics(robot, q, qd, qdd)),
                )
                row["logarithmic"] = max(row["logarithmic"], every_quantity(logarithmic_recursion(state), linear))
                motions, loads = motion_leaves(state), load_leaves(state, linear.F, linear.N)
                tree = bracketed(motions, combine_motion, random)
                straight = prefixes(motions, combine_motion, serial(n + 1))[-1]
                held = bracketed(loads, combine_load, random)
                differ = max(
                    relative(tuple(tree), tuple(straight)), relative((held.f, held.n), (linear.f[0], linear.n[0]))
                )
                row["bracketing"] = max(row["bracketing"], differ)
                wrong = prefixes(motions, misread)[-1].pdd
                row["misread_pdd"] = max(row["misread_pdd"], relative(wrong, linear.pdd[-1]))
            rows.append(row)
    return rows


def every_quantity(found: LinkQuantities, expected: LinkQuantities) -> float:
    names = found.__dataclass_fields__
    return max(relative(getattr(found, name), getattr(expected, name)) for name in names)


def draw() -> None:
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, leaves, first, title in (
        (axes[0], 6, 1, "leaves 1 to 6: seven nodes in tiers of 3, 2, 2"),
        (axes[1], 8, 0, "base and 7 links: twelve nodes in three tiers"),
    ):
        tiers = sklansky(leaves)
        spans = intervals(leaves, tiers)
        for depth, tier in enumerate(tiers, start=1):
            for left, right in tier:
                axis.plot([left, right], [depth - 1, depth], color="tab:blue", linewidth=1)
        for depth, row in enumerate(spans):
            for i, (low, high) in enumerate(row):
                combined = depth > 0 and any(node.right == i for node in tiers[depth - 1])
                if depth:
                    axis.plot([i, i], [depth - 1, depth], color="lightgrey", linewidth=1, zorder=0)
                if combined or depth == 0:
                    text = f"{first + low}" if low == high else f"{first + low}..{first + high}"
                    box = {
                        "boxstyle": "round,pad=0.25",
                        "facecolor": "white",
                        "edgecolor": "tab:blue" if combined else "grey",
                    }
                    axis.text(i, depth, text, ha="center", va="center", fontsize=9, bbox=box)
        axis.set_title(title, fontsize=11)
        axis.set_xlim(-0.6, leaves - 0.4)
        axis.set_ylim(len(tiers) + 0.4, -0.4)
        axis.set_yticks(range(len(tiers) + 1), ["leaves", *(f"tier {k + 1}" for k in range(len(tiers)))])
        axis.set_xticks([])
        for side in axis.spines.values():
            side.set_visible(False)
    figure.suptitle("LAT Fig. 5: every prefix of the links in ⌈log2⌉ tiers (a box is an interval of links)")
    save_figure("lathrop_network", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    rows = chains(3 if quick else 20)
    show_table(rows)
    write_csv("lathrop_forms", rows)
    arms = []
    for name in ARMS:
        robot = bt.load_robot(name)
        q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 100, robot.degrees_of_freedom))
        true = bt.inverse_dynamics(robot, q, qd, qdd)
        errors = {key: relative(lathrop_torques(robot, q, qd, qdd, form), true) for key, form in FORMS.items()}
        arms.append({"arm": name, **errors})
    print()
    show_table(arms)
    print()
    draw()
    newton_euler, logarithmic, bracketing = (
        max(row[key] for row in rows) for key in ("newton_euler", "logarithmic", "bracketing")
    )
    newton_euler = max([newton_euler, *(row[form] for row in arms for form in FORMS)])
    mixed = min(row["misread_pdd"] for row in rows if row["joints"] == "mixed" and row["n"] > 1)
    turning = max(row["misread_pdd"] for row in rows if row["joints"] == "turning")
    tiers = [len(tier) for tier in sklansky(6)]
    finish(
        [
            Check("F01", "linear recursion beside Newton-Euler", newton_euler, below(1e-12), EQUAL,
                  note="pinocchio in tests/machines/test_lathrop_forms.py"),
            Check("F02", "logarithmic beside linear, all quantities", logarithmic, below(1e-12), EQUAL),
            Check("F03", "pdd with 2S+Q for 2(S+Q), mixed joints, least error", mixed, above(0.01),
                  Rule("2(S+Q), so not 0", above(0.01).holds), note="the scan reads 2S+Q"),
            Check("F03", "the same, turning joints only", turning, below(1e-12)),
            Check("F04", "any bracketing", bracketing, below(1e-12), EQUAL),
            Check("F11", "nodes, and nodes of each tier, leaves 1 to 6", [sum(tiers), *tiers], [7, 3, 2, 2],
                  Rule("7 in 3 tiers", lambda ours: ours[0] == 7 and len(ours) == 4)),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
