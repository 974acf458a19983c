"""The cascades of the built-in specifications as text: what lies in this folder, committed.

    python cascade/write.py

writes them anew. A change of the planner then shows as a change of these files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.writing import write_whole
from bddtorque.compiler.origin import from_terms
from bddtorque.compiler.plan_text import plan_text
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.spec import spec_names
from bddtorque.spec.loading import Source, spec_and_robot


def plan_document(source: Source) -> str:
    """Return the plan of a specification as text; where its terms were not feasible, with the reason why."""
    spec, robot, _ = spec_and_robot(source, {})
    why_not = ""
    if spec.source == "auto" and spec.accuracy != "paper":
        try:
            from_terms(robot)
        except BddTorqueError as reason:
            spec, why_not = spec.with_options(source="recursive"), f"\nWhy not terms\n  {reason}\n"
    draft = draft_of_robot(spec, robot)
    bits = "/".join(str(bits) for bits in dict.fromkeys(word.bits for word in draft.source.outputs.values()))
    return plan_text(draft.word_plan("a cascade"), f"{robot.name}, {bits} bits", draft.bounds()) + why_not


if __name__ == "__main__":
    for name in spec_names():
        file = Path(__file__).with_name(f"{name}.txt")
        write_whole(file, plan_document(name).encode())
        sys.stdout.write(f"{file}\n")
