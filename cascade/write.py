"""Write what lies beside this script: the plan of every built-in specification as text, as JSON and as a drawing.

    python cascade/write.py

A change of the planner then shows as a change of these files; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole
from bddtorque.compiler.origin import from_terms
from bddtorque.compiler.pinning import FORMAT, VERSION
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import native_operations
from bddtorque.report.page import standalone_svg
from bddtorque.report.plan_picture import plan_svg
from bddtorque.spec import spec_names
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.targets.plan_text import plan_text

PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in spec_names()},
    "planar2r_paper": ("planar2r", {"bits": 8, "accuracy": "paper"}),
}
"""By the name of the files: a specification, and what is asked for otherwise."""

SHOWN = Path(__file__).parents[1] / "docs" / "images" / "planar2r_paper.svg"
"""A copy that docs/papers.md shows."""
COLOURS = "blue: input words; teal: sums of angles; yellow: tables; violet: products; grey: sums; green: torque words"


def documents(name: str) -> dict[str, bytes]:
    """Return the files of one plan by their suffix; where its terms were not feasible, the text says why."""
    source, options = PLANS[name]
    spec, robot, _ = spec_and_robot(source, options)
    why_not = ""
    if spec.source == "auto" and spec.accuracy != "paper":
        try:
            from_terms(robot)
        except BddTorqueError as reason:
            spec, why_not = spec.with_options(source="recursive"), f"\nWhy not terms\n  {reason}\n"
    draft = draft_of_robot(spec, robot)
    plan = draft.plan
    assert isinstance(plan, Plan), "cascades are of tables"
    if spec.source == "auto" and plan.source == "recursive":
        terms = draft_of_robot(spec.with_options(source="terms"), robot).plan
        assert isinstance(terms, Plan)
        counts = f"{native_operations(terms):,} operations a state, the recursion {native_operations(plan):,}"
        why_not = f"\nWhy not terms\n  they take {counts}\n"
    bits = "/".join(str(bits) for bits in dict.fromkeys(word.bits for word in draft.formats.results.values()))
    title = f"{robot.name}, {bits} bits"
    return {
        "txt": (plan_text(plan, title, draft.bounds()) + why_not).encode(),
        "json": plan_json(plan, robot.name).encode(),
        "svg": standalone_svg(plan_svg(plan), f"The plan of {title}, accuracy {spec.accuracy}", (COLOURS,)),
    }


def plan_json(plan: Plan, robot: str) -> str:
    """Return a plan as `compile --plan` takes it, a wire, a block or an output a line."""
    plain = plan.to_plain()
    parts = {key: plain.pop(key) for key in ("wires", "blocks", "outputs")}
    head = {"format": FORMAT, "version": VERSION, "robot": robot, "counts": plan.counts(), "plan": plain}
    lists = [
        f'"{key}": [\n' + ",\n".join(json.dumps(each, ensure_ascii=False) for each in items) + "\n]"
        for key, items in parts.items()
    ]
    start = json.dumps(head, ensure_ascii=False).removesuffix("}}")
    return ",\n".join([start, *lists]) + "\n}}\n"


if __name__ == "__main__":
    for name in PLANS:
        for suffix, text in documents(name).items():
            write_whole(Path(__file__).parent / f"{name}.{suffix}", text)
    write_whole(SHOWN, (Path(__file__).parent / SHOWN.name).read_bytes())
