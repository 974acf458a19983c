"""How many operations plans in floats would save without numerical dust: summands far below their neighbours.

For tables and integers the planner leaves dust out: what is at most 2⁻¹⁶ of the other summand. Here the same is done to
the graph of a plan in floats, smallest first, as long as the torques move by 0.01 units at most, and the operations of
both plans are counted. Robots from files of example-robot-data, at 2 rad/s and 10 rad/s².

    python experiments/float_dust.py [--quick]
"""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from reporting import Check, arguments, finish, show_table, write_csv

from bddtorque.compiler.origin import from_recursion
from bddtorque.compiler.robot_draft import output_targets
from bddtorque.compiler.torque_ranges import resolve_spec
from bddtorque.graph.graph import Graph, Op
from bddtorque.graph.node_ranges import node_ranges
from bddtorque.graph.tracer import Number, Tracer
from bddtorque.model.source import RobotSource
from bddtorque.planner.float_planner import plan_floats
from bddtorque.planner.sizing import DUST
from bddtorque.spec.loading import spec_and_robot

BITS, SHARE = 12, 0.01
BUILT_IN = ("scara", "stanford", "puma560", "ur5", "panda")
FILES = ("so_arm_description/urdf/so100.urdf", "so_arm_description/urdf/so101.urdf", "z1_description/urdf/z1.urdf",
         "xarm_description/urdf/xarm7.urdf")  # fmt: skip
RECORDED = {
    "scara": (51, 51), "stanford": (185, 185), "puma560": (260, 260), "ur5": (199, 199), "panda": (435, 435),
    "so100": (370, 365), "so101": (457, 406), "z1": (417, 405), "xarm7": (591, 518),
}  # fmt: skip
"""Operations of the plan, and without dust."""


def dust_of(graph: Graph, source: RobotSource) -> dict[int, int]:
    """Return the sums with dust, and which operand it is (0 or 1)."""
    inputs = {name: each.interval() for name, each in source.arguments.items() if each.kind == "word"}
    size = [each.magnitude for each in node_ranges(graph, inputs)]
    adjoint = np.zeros((len(size), len(graph.outputs)))
    for k, (reference, word) in enumerate(zip(graph.outputs, source.formats.tau, strict=True)):
        adjoint[reference >> 1, k] += 1 / word.lsb
    found = []
    for place in range(len(size) - 1, -1, -1):
        node = graph.nodes[place]
        if not adjoint[place].any() or node.op not in (Op.SUM, Op.PRODUCT):
            continue
        pair = [operand >> 1 for operand in node.operands]
        for side, (own, other) in enumerate((pair, pair[::-1])):
            adjoint[own] += adjoint[place] * (1.0 if node.op is Op.SUM else size[other])
            if node.op is Op.SUM and size[own] <= DUST * size[other]:
                found.append((size[own] * adjoint[place], place, side))
    spent, dust = np.zeros(len(graph.outputs)), {}
    for charge, place, side in sorted(found, key=lambda each: float(each[0].max())):
        if (spent + charge <= SHARE).all():
            spent, dust[place] = spent + charge, side
    return dust


def without(graph: Graph, dust: dict[int, int]) -> Graph:
    """Return a graph with these summands left out."""
    tracer, values = Tracer(), list[Number]()

    def take(reference: int) -> Number:
        return -values[reference >> 1] if reference & 1 else values[reference >> 1]

    for place, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                values.append(tracer.input(node.name))
            case Op.CONSTANT:
                values.append(node.value)
            case Op.SUM if place in dust:
                values.append(take(node.operands[1 - dust[place]]))
            case Op.SUM:
                values.append(take(node.left) + take(node.right))
            case Op.PRODUCT:
                values.append(take(node.left) * take(node.right))
            case _:
                values.append((tracer.cos if node.op is Op.COSINE else tracer.sin)(take(node.left)))
    return tracer.graph([take(reference) for reference in graph.outputs], list(graph.output_names))


def operations(graph: Graph, source: RobotSource) -> int:
    """Return sums, products and fused operations of the plan in floats."""
    counts = plan_floats(graph, source.arguments, output_targets(source), 1.0, "recursive").counts()
    return sum(counts[name] for name in ("sums", "products", "fused"))


def main() -> None:
    """Print operations robot by robot, and hold them against what was recorded."""
    options = arguments(__doc__)
    package = distribution("example-robot-data")
    paths = {
        Path(name).stem: str(
            package.locate_file(next(file for file in package.files or () if str(file).endswith(name)))
        )
        for name in FILES
    }
    rows, checks = [], []
    for name in (*BUILT_IN, *paths) if not options.quick else ("ur5", "so101"):
        motion = {"velocity": 2.0, "acceleration": 10.0} if name in paths else {}
        spec, robot, _ = spec_and_robot(paths.get(name, name), {"bits": BITS, "target": "float", **motion})
        spec = resolve_spec(spec, robot)
        source, graph = RobotSource(robot, spec, spec.formats(robot)), from_recursion(robot).graph
        dust = dust_of(graph, source)
        before, after = operations(graph, source), operations(without(graph, dust), source)
        rows.append({"robot": name, "operations": before, "without dust": after, "summands left out": len(dust)})
        checks.append(Check("ours", f"operations of {name}, and without dust", (before, after), RECORDED[name]))
    show_table(rows)
    write_csv("float_dust", rows)
    finish(checks)


if __name__ == "__main__":
    main()
