"""Changes of a file that are no lie: their places, each with its reason, and changes that leave everything the same."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from mutations import at, taken_apart

import bddtorque as bt
from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.graph import graph_from_plain
from bddtorque.dynamics.quantities import QUANTITIES as RECORDS
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_from_plain

EITHER = {
    "package": "the version that wrote the file: no digest covers it",
    "robot.name": "what the arm is called",
    "robot.source": "where its numbers come from",
    "robot.links[].name": "what a link is called",
    "robot.allow_unphysical": "what a reader of robots accepts; this arm is physical",
    "robot.joints[].(lower|upper|velocity|acceleration|effort)": "limits, which the spec has replaced by ranges",
    "spec.memory": "a budget",
    "spec.robot": "what the arm is called",
    "spec.source": "auto had chosen the same",
    "function.name": "what the function is called",
    "function.rules.*": "how samples were read",
    "function.accuracy": "what was asked for: the bound is still below it",
    "function.graph.output_names[]": "what the value is called",
    "plan.block_bits": "a limit that the tables of a function still keep",
    "plan.blocks[].law.*": "another law with the same words and the same errors: the file is true of it",
    "certificate.outputs[].spread": "stated, and no part of the bound",
}
"""Changes that neither proof can object to."""

FUNCTIONS = {
    "words.inputs[].words[].(name|unit)": "what an input of a function is called, and counted in",
}
"""The same for files of functions."""

LIMITS = {"words.inputs[].words[].(low|high)": "an angle goes round: these only say what is counted as out of range"}
"""The same for files whose inputs are angles."""

GIVEN = {
    "words.inputs[].words[].(low|high|offset)": "what the words of a given table stand for its function alone knows",
    "words.outputs[].words[].offset": "likewise",
    "certificate.outputs[].(low|high)": "stated; a range that still holds every word",
    "certificate.outputs[].assumed": "stated",
}
"""The same for a file of given words."""

INDEPENDENT = {
    "plan.wires[].name": "what an inner word is called",
    "plan.outputs[].name": "what the output of a function is called",
    "plan.blocks[].graph.output_names[]": "what a function is called",
    "plan.wires[].lsb": "the value of the unit of an inner sum: no word depends on it",
    "plan.blocks[].(low|high)": "a range that still holds every word",
    "plan.wires[].(low|high)": "a range that still holds every word",
    "spec.chip": "whose costs the plan was chosen by: no word depends on it, and the checker has no list of processors",
    "plan.target": "which evaluator of the same words was meant",
    "certificate.outputs[].parts.arithmetic": "proved together with `dropped` and `constants`: the bound that the "
    "checker proves without the certificate, which it says, still is no more",
    "certificate.outputs[].witness[][]": "another state that saturates as well",
}
"""What the independent checker cannot object to besides; `verify` makes the plan again, and does."""

UNUSED = {"spec.block_bits": "a limit of tables that a plan in floats has none of"}
"""What neither proof can object to in a plan in floats."""

ROUNDED = {
    "plan.(wires|outputs)[].(parts[][]|constant)": "a factor one off is still as near as `constants` allows",
    "plan.(wires|outputs)[].constant_error": "so little that the bound has the same first five digits",
}
"""The same where factors have many digits, as in a recursion: the bound follows all the same."""


ALIKE = {
    "arm's masses": {
        "plan.wires[].block": "two tables of the same words",
        "plan.outputs[].parts[][]": "a look-up in the other one",
    },
    "arm's jacobian": {"plan.wires[].(left|right)": "nothing times another number"},
}
"""Plans that say something twice: it does not matter which is read."""

QUANTITIES = {
    "certificate.outputs[].(low|high)": "a range that still holds every value",
    "certificate.outputs[].parts.(constants|tables|arithmetic)": "less than the last digit of the bound",
}
"""What the independent checker cannot object to in files of other quantities."""


def explained(place: str, reasons: dict[str, str]) -> bool:
    return any(re.fullmatch(re.sub(r"([.\[\]])(?![*+)])", r"\\\1", pattern), place) for pattern in reasons)


def same_values(data: bytes, mutant: bytes) -> bool:
    """Whether a changed robot is the same to every value of the quantity: then there is nothing to find."""
    rng = np.random.default_rng(0)
    header = taken_apart(data)[0]
    robots = [
        robot_from_plain({**taken_apart(each)[0]["robot"], "allow_unphysical": True}, "robot")
        for each in (data, mutant)
    ]
    q, qd, qdd = rng.uniform(-3, 3, (3, 50, 2))
    match header["spec"].get("quantity"):
        case "energy":
            # gravity is given at run time: any is that of three directions
            one, other = ([np.stack([energies(robot, axis, q, qd) for axis in np.eye(3)])] for robot in robots)
        case "gravity":
            # a payload is given at run time: any is that of point masses at four places of the tip frame
            places = [(0.0, 0.0, 0.0), *map(tuple, np.eye(3).tolist())]
            one, other = (
                [
                    np.stack(
                        [bt.gravity_torque(replace(robot, payload=Link("payload", 1.0, place)), q) for place in places]
                    )
                ]
                for robot in robots
            )
        case "mass_matrix":
            one, other = ([bt.mass_matrix(robot, q)] for robot in robots)
        case "jacobian":
            # where the base stands does not matter, nor what is heavy
            one, other = (
                [[(each.kind, each.rotation) for each in robot.joints], [each.translation for each in robot.joints[1:]]]
                for robot in robots
            )
            return one == other and robots[0].tip.translation == robots[1].tip.translation
        case _:
            one, other = ([bt.inverse_dynamics(robot, q, qd, qdd)] for robot in robots)
    return np.allclose(one[0], other[0], rtol=0, atol=1e-9) and one[1:] == other[1:]


def energies(robot: Robot, gravity: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return kinetic and potential energies of a robot that falls freely with `gravity`."""
    x, y, z = gravity.tolist()
    return RECORDS["energy"].values(FloatArm(robot.with_gravity((x, y, z)), None, {"q": q, "qd": qd}))


def same_function(header: dict, changed: dict, path: tuple) -> bool:
    """Whether a changed graph is the same function, as cos(−x) is cos x."""
    root = path[: path.index("graph") + 1]
    names = {node[3] for node in at(header, root)["nodes"]} | {"x0", "x1", "x2"}
    graphs = [graph_from_plain(at(each, root), "graph", names) for each in (header, changed)]
    rng = np.random.default_rng(0)
    state = {name: rng.uniform(-3, 3, 50) for name in names}
    one, other = (np.asarray(graph.evaluate(state)[0]) for graph in graphs)
    return np.allclose(one, other, rtol=0, atol=1e-9)


def same_wire(header: dict, path: tuple, value: object) -> bool:
    """Whether a wire is read where its copy was: a sum of that one wire, times 1, with nothing added or rounded."""
    wires, read = header["plan"]["wires"], at(header, path)
    for copy, source in ((read, value), (value, read)):
        if type(copy) is int and 0 <= copy < len(wires):
            wire = wires[copy]
            if wire["kind"] == "sum" and (wire["parts"], wire["constant"], wire["shift"]) == ([[source, 1]], 0, 0):
                return True
    return False
