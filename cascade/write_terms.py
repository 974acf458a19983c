"""Write tables/planar2r_terms/: the ten terms of the Boolean/BDD paper as PLA truth tables, and their diagrams drawn.

    python cascade/write_terms.py

The two-joint arm with words of 4 bits and the paper's rule for the words of its terms: W = r + m = 4 + 2 bits.
"""

from __future__ import annotations

from pathlib import Path

import bddtorque as bt
from bddtorque.base.files import write_whole
from bddtorque.export.logic import pla_text
from bddtorque.plan.wires import Lookup
from bddtorque.report.diagram_picture import diagram_picture, drawable_part
from bddtorque.report.page import DIAGRAM_NOTES, standalone_svg
from bddtorque.sweeps.term_errors import term_summands

FOLDER = Path(__file__).parents[1] / "tables" / "planar2r_terms"
BITS = 4
FORMULAS = {
    "J11": "(15.75 + 10 cos q2) qdd1",
    "J12": "(4 + 5 cos q2) qdd2",
    "C1_22": "5 sin q2 qd2^2",
    "C1_12": "10 sin q2 qd1 qd2",
    "G1a": "66.2175 cos q1",
    "G1b": "49.05 cos(q1 + q2)",
    "J21": "(4 + 5 cos q2) qdd1",
    "J22": "9 qdd2",
    "C2_11": "5 sin q2 qd1^2",
    "G2": "49.05 cos(q1 + q2)",
}
"""What the tables hold, in N·m."""
SHOWN = FOLDER.parents[1] / "docs" / "images" / "C1_22.svg"
"""A copy that docs/papers.md shows."""
MOST_NODES = 120
"""In one drawing."""


def files() -> dict[str, bytes]:
    """Return every file by its name: J11.pla, J11.svg, ...; gravity at the shoulder is two tables, G1a and G1b."""
    model = bt.compile("planar2r", bits=BITS, input_bits=BITS, accuracy="paper", workers=1, cache=None)
    plan = model.word_plan("a table of terms")
    found = {}
    for term in term_summands(model):
        output = plan.outputs[term.torque]
        unit = float(output.lsb) / (1 << output.shift)
        for place, (wire, factor) in enumerate(term.parts):
            lookup = plan.wires[wire]
            if not isinstance(lookup, Lookup):
                raise TypeError(f"{lookup.name} is no table: the terms of this arm are one table each")
            name = term.name + ("ab"[place] if len(term.parts) > 1 else "")
            words = [plan.wires[source].name for source in lookup.wires]
            table, diagram = model.tables[lookup.block], model.diagrams[lookup.block]
            enters = "subtracted from" if factor < 0 else "added to"
            said = f"{name}, {enters} {output.name}: {FORMULAS[name]} in units of {unit:g} N m"
            found[f"{name}.pla"] = pla_text(table, said, [word.replace("+", "_plus_") for word in words]).encode(
                "ascii"
            )
            part = drawable_part(diagram, MOST_NODES)
            bits = part[0]
            shown = f"{name} of {output.name}: {'bits' if len(bits) > 1 else 'bit'} {', '.join(map(str, bits))}"
            if len(bits) < diagram.output_bits:
                shown += f" of {diagram.output_bits}"
            drawn = diagram_picture(diagram, part, table.input_widths, f"The diagram of {shown}", words)
            found[f"{name}.svg"] = standalone_svg(drawn, shown, DIAGRAM_NOTES)
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        write_whole(FOLDER / name, data)
    write_whole(SHOWN, (FOLDER / SHOWN.name).read_bytes())
