"""The Boolean/BDD paper's one-bit processors in gates: clocks of a whole torque against the number of processors.

The paper's section IV wants processors of a single bit and promises a speed-up proportional to their number. Here they
are Verilog (`bddtorque export --verilog DIR --one-bit --processors P`): a core tests or adds one bit per clock, and
what one makes for another goes over a bus, one bit per clock. Two models of the 2R arm, words of 8 bits by the paper's
rule and 12 bits in the default plan, and the terms a to d of its Fig. 3. Every machine is counted on states drawn
evenly, and simulated by Icarus Verilog on the states of its test bench: each state must take exactly the counted
clocks and give the words of the model. Then one core is synthesised and routed for an iCE40 HX8K (at most 100 logic
cells and at least 60 MHz); with --ecp5, which takes many minutes, more processors for an ECP5-85.

    python experiments/one_bit_cores.py [--quick] [--ecp5]
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from reporting import Check, Rule, above, finish, near, parser, save_figure, show_table, write_csv

import bddtorque as bt
from bddtorque.export.fpga_tools import DEVICES, build, missing_tools
from bddtorque.export.one_bit_exporter import OneBitFiles, one_bit_files
from bddtorque.export.one_bit_program import count_clocks

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PAPER = {"a": "C1_22", "b": "G1.1", "c": "J22", "d": "C2_11"}
"""The terms of Fig. 3, as the export calls them."""
STATES = 2000
RECORDED: dict[bool, dict[str, tuple[float, ...]]] = {
    False: {
        "W = 8, bits": (1.871, 3.103, 3.944, 4.079, 4.108),
        "W = 8, terms": (1.860, 3.090, 3.285, 3.285, 3.285),
        "12 bits, bits": (1.912, 2.314, 2.313, 2.428, 2.635),
        "12 bits, terms": (1.882, 2.977, 5.072, 5.072, 5.072),
    },
    True: {"W = 6, bits": (1.834, 2.643), "W = 6, terms": (1.599, 2.541)},
}
"""Speed-ups for the numbers of processors tried, by model and what is spread, by `--quick`."""
TESTS = {False: (422.5, 2259.0), True: (171.7,)}
"""Tests of a bit per torque, by `--quick`."""
TERMS = {False: (28.0, 45.1, 28.9, 33.7), True: (12.9, 28.0, 14.6, 19.1)}
"""Clocks of the terms a to d, by `--quick`."""
CELLS = {"a": (73, 8), "b": (68, 6), "c": (65, 5), "d": (73, 22), "torque, 4 bits": (92, 23)}
"""Logic cells and block RAMs of one core on the HX8K."""
ECP5 = (1, 2, 4, 8, 16, 32)


def even_states(made: OneBitFiles) -> np.ndarray:
    """Return states whose words are drawn evenly."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(-(1 << (bits - 1)), 1 << (bits - 1), STATES) for bits in made.machine.inputs.values()]
    return np.stack(columns, axis=1)


def write_files(made: OneBitFiles, folder: Path) -> None:
    """Write the files of an export."""
    folder.mkdir()
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="ascii")


def simulated(made: OneBitFiles, folder: Path) -> str:
    """Return the last line of the test bench; nothing without Icarus Verilog."""
    if shutil.which("iverilog") is None:
        return ""
    sources = [f"{made.facts.name}_tb.v", *made.facts.sources]
    subprocess.run(["iverilog", "-g2001", "-o", "tb", *sources], cwd=folder, check=True)
    return subprocess.run(["vvp", "tb"], cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def measure(model: bt.Model, folder: Path, vectors: int, **options: Any) -> tuple[dict[str, Any], OneBitFiles]:
    """Return the figures of a machine, counted and simulated."""
    made = one_bit_files(model, name="dut", vectors=vectors, **options)
    counted = count_clocks(made.machine, even_states(made))
    write_files(made, folder)
    said = simulated(made, folder)
    expected = f"OK: {vectors} states in {made.counted.clocks.sum()} clocks"
    row = {
        "processors": made.facts.processors,
        "tests": round(float(counted.tests.mean()), 1),
        "clocks": round(float(counted.clocks.mean()), 1),
        "most": int(counted.clocks.max()),
        "nodes": made.facts.nodes,
        "code": made.facts.code_words,
        "messages": made.machine.spreading.messages if made.machine.several else 0,
        "simulated": "equal" if said == expected else said or "not here",
    }
    return row, made


def routed(folder: Path, made: OneBitFiles, device: str) -> dict[str, Any]:
    """Return the cells and the frequency of a machine on a device."""
    built = build(folder, made.facts.sources, made.facts.name, device)
    return {"cells": int(built.luts), "memories": int(built.memories), "MHz": round(built.mhz or 0.0, 1)}


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw clocks and speed-ups against the number of processors."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    styles = {"bits": "o-", "terms": "s--"}
    colours = dict(zip(dict.fromkeys(row["model"] for row in rows), ("tab:red", "tab:blue"), strict=False))
    for model, colour in colours.items():
        alone = next(row["clocks"] for row in rows if (row["model"], row["processors"]) == (model, 1))
        for spread, style in styles.items():
            mine = [
                row for row in rows if row["model"] == model and (row["spread"] == spread or row["processors"] == 1)
            ]
            count = [row["processors"] for row in mine]
            axes[0].loglog(count, [row["clocks"] for row in mine], style, color=colour, label=f"{model}, {spread}")
            axes[1].loglog(count, [alone / row["clocks"] for row in mine], style, color=colour)
    most = max(row["processors"] for row in rows)
    axes[1].loglog([1, most], [1, most], "k:", label="proportional, as the paper says")
    axes[1].legend()
    axes[0].legend()
    for axis, title in zip(axes, ("clocks per torque", "speed-up over one processor"), strict=True):
        axis.set_xlabel("one-bit processors")
        axis.set_title(title)
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.grid(alpha=0.3, which="both")
    save_figure("one_bit_cores", figure)


def ladders(models: dict[str, tuple[bt.Model, int]], counts: tuple[int, ...], folder: Path) -> list[dict[str, Any]]:
    """Return a row for every model, number of processors and way of spreading."""
    rows = []
    for name, (model, vectors) in models.items():
        for processors in counts:
            for spread in ("bits", "terms") if processors > 1 else ("bits",):
                place = folder / f"{name}{processors}{spread}".replace(" ", "").replace(",", "")
                row, _ = measure(model, place, vectors, processors=processors, spread=spread)
                rows.append({"model": name, "spread": spread, **row})
                print(f"  {name}, {processors} processors, {spread}: {row['clocks']} clocks", flush=True)
    return rows


def main() -> None:
    line = parser(__doc__)
    line.add_argument("--ecp5", action="store_true", help="route whole torques of several processors for an ECP5-85")
    options = line.parse_args()
    counts = (1, 2, 4) if options.quick else (1, 2, 4, 8, 16, 32)
    vectors = 60 if options.quick else 100
    small = bt.compile("planar2r", bits=4, accuracy="paper")
    paper = small if options.quick else bt.compile("planar2r", bits=6, accuracy="paper")
    models = {"W = 6" if options.quick else "W = 8": (paper, vectors)}
    if not options.quick:
        models["12 bits"] = (bt.compile("planar2r", bits=12), vectors // 4)  # a state takes ten times the clocks
    checks = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rows = ladders(models, counts, folder)
        print()
        show_table(rows)
        designs: dict[str, tuple[dict[str, Any], OneBitFiles]] = {
            letter: measure(paper, folder / letter, vectors, term=term) for letter, term in PAPER.items()
        }
        terms = [{"term": letter, **row} for letter, (row, _) in designs.items()]
        print()
        show_table(terms)
        if not options.quick and not missing_tools(DEVICES["ice40"]):
            designs["torque, 4 bits"] = measure(small, folder / "torque", vectors)
            figures = [{"design": d, **routed(folder / ("torque" if d not in PAPER else d), made, "ice40")}
                       for d, (_, made) in designs.items()]  # fmt: skip
            print("\nOne core on an iCE40 HX8K\n")
            show_table(figures)
            write_csv("one_bit_cores_ice40", figures)
            for each in figures:
                recorded = CELLS[each["design"]]
                checks += [
                    Check("ours", f"HX8K, {each['design']}: logic cells, block RAMs",
                          [each["cells"], each["memories"]], near(recorded, relative=0.1)),
                    Check("ours", f"HX8K, {each['design']}: MHz", each["MHz"], above(60)),
                ]  # fmt: skip
        if options.ecp5:
            wide = []
            for processors in ECP5:
                place = folder / f"ecp5{processors}"
                row, made = measure(paper, place, 1, processors=processors)
                wide.append({"processors": processors, "clocks": row["clocks"], **routed(place, made, "ecp5")})
                print(f"  ECP5-85: {wide[-1]}", flush=True)
            show_table(wide)
            write_csv("one_bit_cores_ecp5", wide)
    write_csv("one_bit_cores", rows)
    draw(rows)
    finish([*checks, *verdicts(rows, terms, options.quick)])


def verdicts(rows: list[dict[str, Any]], terms: list[dict[str, Any]], quick: bool) -> list[Check]:
    """Return what was recorded, and what the paper says."""
    checks = []
    for k, model in enumerate(dict.fromkeys(row["model"] for row in rows)):
        mine = [row for row in rows if row["model"] == model]
        checks.append(Check("ours", f"tests of a bit per torque, {model}", mine[0]["tests"],
                            near(TESTS[quick][k], relative=0.005)))  # fmt: skip
        for spread in ("bits", "terms"):
            ours = [row["clocks"] for row in mine if row["spread"] == spread and row["processors"] > 1]
            gains = [mine[0]["clocks"] / clocks for clocks in ours]
            counts = [row["processors"] for row in mine if row["spread"] == spread and row["processors"] > 1]
            recorded = near(RECORDED[quick].get(f"{model}, {spread}", ()), relative=0.005)
            for at in (0, len(ours) - 1):
                claim = Rule(
                    f"at least 0.9 times {counts[at]}", lambda gains, at=at, of=counts: gains[at] >= 0.9 * of[at]
                )
                checks.append(Check("BDD2R section IV", f"speed-up of {counts[at]} processors, {model}, {spread}",
                                    gains, recorded, claim))  # fmt: skip
    checks.append(Check("ours", "clocks of the terms a to d", [row["clocks"] for row in terms],
                        near(TERMS[quick], relative=0.005)))  # fmt: skip
    seen = [row["simulated"] for row in [*rows, *terms] if row["simulated"] != "not here"]
    checks.append(Check("ours", "machines whose simulated words and clocks are the counted ones, of those simulated",
                        len(seen) - sum(each == "equal" for each in seen), 0))  # fmt: skip
    return checks


if __name__ == "__main__":
    main()
