"""Horn and Raibert's look-up (LAT Table 1) built for real, beside the compiled Boolean tables of the same arm.

Both take positions as words of b bits. The look-up stores each coefficient of the dynamics over all positions it
depends on and does the rest with multiplications; its torque is rounded to the same word, so that errors compare. What
it would need for six joints is counted without building it.

    python experiments/horn_raibert.py [--quick]
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from reporting import Check, arguments, at_most, below, finish, near, save_figure, show_table, write_csv

import bddtorque as bt
from machines.classics.horn_raibert import LookUp, look_up, robot_arithmetic_graph, table_entries
from machines.classics.serial_costs import TABLE_1

COEFFICIENT_BITS = (8, 12, 16, None)
FORMULA = next(row for row in TABLE_1 if row.method == "Horn-Raibert look-up")


def words(model: bt.Model, count: int) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [
        np.stack([random.integers(word.lowest, word.highest, count, endpoint=True) for word in kind], axis=1)
        for kind in model.formats.inputs
    ]


def errors(model: bt.Model, compiled: np.ndarray, states: list[np.ndarray]) -> np.ndarray:
    """Return |words − true torque| in units of the last bit, the worst of each joint."""
    true = bt.inverse_dynamics(model.robot, *states)
    worst = []
    for j, word in enumerate(model.formats.tau):
        units = np.clip((word.sign * true[:, j] - word.centre) / word.lsb, word.lowest, word.highest)
        worst.append(np.abs(compiled[:, j] - units).max())
    return np.array(worst)


def compare(name: str, bits: int, count: int) -> list[dict[str, object]]:
    """Return a row for the compiled tables of an arm and one for each look-up."""
    robot = bt.load_robot(name)
    model = bt.compile(name, bits=bits)
    given = words(model, count)
    states = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, given, strict=True)]
    facts = model.summary()
    rows = [
        {
            "arm": name,
            "bits": bits,
            "way": "compiled tables",
            "bytes": facts["table_bytes"],
            "looked up": facts["lookups"],
            "products": facts["products"],
            "sums": facts["sums"] + facts["angle_sums"],
            "error found": float(errors(model, model.torque_words(*given), states).max()),
            "proved": f"{max(facts['bound']):.3f}",
        }
    ]
    counts = robot_arithmetic_graph(bt.terms_of(robot)).counts()
    for coefficient_bits in COEFFICIENT_BITS:
        table: LookUp = look_up(robot, bits, coefficient_bits)
        tau = model.formats.tau.quantise(table.inverse_dynamics(*states))
        label = "float64" if coefficient_bits is None else f"{coefficient_bits}-bit"
        rows.append(
            {
                "arm": name,
                "bits": bits,
                "way": f"look-up, {label} coefficients",
                "bytes": table.bytes,
                "looked up": len(table.tables),
                "products": counts["products"],
                "sums": counts["sums"],
                "error found": float(errors(model, tau, states).max()),
                "proved": "-",
            }
        )
    return rows


def memory(names: tuple[str, ...], compiled_too: bool) -> list[dict[str, object]]:
    """Return what look-ups of these arms would take, coefficients of two bytes."""
    rows = []
    for name in names:
        robot = bt.load_robot(name)
        terms = bt.terms_of(robot)
        most = max(len(term.expansion.depends_on) for term in terms.terms)
        row = {
            "arm": name,
            "joints": robot.degrees_of_freedom,
            "coefficients": len(terms.terms),
            "most positions": most,
        }
        row |= {f"look-up {bits} bits, bytes": f"{2.0 * table_entries(terms, bits):.2e}" for bits in (6, 8, 10, 12)}
        if compiled_too:
            row["compiled 8 bits, bytes"] = bt.compile(name, bits=8).summary()["table_bytes"]
        rows.append(row)
    return rows


def draw(rows: list[dict[str, object]], sizes: list[dict[str, object]]) -> None:
    figure = Figure(figsize=(13, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for arm, colour in zip(dict.fromkeys(row["arm"] for row in rows), ("tab:blue", "tab:orange"), strict=False):
        mine = [row for row in rows if row["arm"] == arm]
        looked_up = [row for row in mine if row["way"] != "compiled tables"]
        size, error = ([row[key] for row in looked_up] for key in ("bytes", "error found"))
        label = f"{arm}, {mine[0]['bits']} bits: look-up, coefficients of 8, 12, 16, 64 bits"
        left.semilogx(size, error, "o-", color=colour, label=label)
        one = next(row for row in mine if row["way"] == "compiled tables")
        left.semilogx(
            one["bytes"], one["error found"], "*", markersize=15, color=colour, label=f"{arm}: compiled tables"
        )
        left.semilogx(
            one["bytes"], float(one["proved"]), "_", markersize=15, color=colour, label=f"{arm}: proved for the tables"
        )
    left.axhline(0.5, color="grey", linestyle=":", label="rounding alone")
    left.set_xlabel("bytes")
    left.set_ylabel("largest error found, units of the torque's last bit")
    left.set_title("Memory and error on the same words")
    left.grid(alpha=0.3, which="both")
    left.set_ylim(0.45, 1.4)  # room for the legend
    left.legend(fontsize=7.5, loc="upper center")
    bits = (6, 8, 10, 12)
    for row in sizes:
        right.semilogy(
            bits,
            [float(row[f"look-up {b} bits, bytes"]) for b in bits],
            "o-",
            label=f"{row['arm']} (coefficients of up to {row['most positions']} positions)",
        )
    right.axhline(16e9, color="grey", linestyle=":", label="16 GB")
    right.set_xticks(bits)
    right.set_xlabel("bits of a position")
    right.set_ylabel("bytes, two a coefficient")
    right.set_title("What the look-up would need")
    right.grid(alpha=0.3, which="both")
    right.legend(fontsize=7.5)
    save_figure("horn_raibert", figure)


def main() -> None:
    quick = arguments(__doc__).quick
    count = 20_000 if quick else 200_000
    rows = compare("planar2r", 6 if quick else 8, count) + compare("planar3r_a", 4 if quick else 7, count)
    show_table(rows)
    write_csv("horn_raibert", rows)
    print()
    sizes = memory(("planar2r", "planar3r_a", "scara", "stanford", "puma560", "ur5"), not quick)
    show_table(sizes)
    write_csv("horn_raibert_memory", sizes)
    draw(rows, sizes)
    exact = [row["error found"] for row in rows if row["way"] == "look-up, float64 coefficients"]
    shares = [row["error found"] / float(row["proved"]) for row in rows if row["way"] == "compiled tables"]
    least = min(float(row["look-up 8 bits, bytes"]) for row in sizes if row["joints"] == 6)
    finish(
        [
            Check("LAT Table 1", "look-up, six joints, m and a: the formula", FORMULA.at(6), (468, 264), (468, 264)),
            Check("ours", "look-up with exact coefficients, error (rounding alone)", max(exact), below(0.5 + 1e-9)),
            Check("ours", "compiled tables, error found over proved", max(shares), at_most(1.0)),
            Check("ours", "look-up for six joints, 8-bit positions, least bytes", least, near(1.8e11, relative=0.05)),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
