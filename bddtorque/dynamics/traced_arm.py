"""`TracedArm`: a robot under trace, as quantities see it.

Torques come from one of two places. From a graph of the torques that was made before, terms or recursion: then only the
motion is traced. Or from the robot's own numbers, exact until each is rounded once: then whatever is given at run time
(a payload, gravity) is traced too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.coupling import angle_name, traced_positions
from bddtorque.dynamics.exact_trace import (
    Rows,
    exact_array,
    exact_chain,
    next_frame,
    trace_jacobian,
    trace_pose,
    turned,
)
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.newton_euler import add
from bddtorque.dynamics.recursion import TORQUES, JointRecursion
from bddtorque.dynamics.robot_trace import sines_and_cosines
from bddtorque.dynamics.run_time_input import RunTimeInput
from bddtorque.dynamics.tracer import Exact, ExactTracer, Number, traced_inputs
from bddtorque.robots.robot import Robot


@dataclass
class TracedArm:
    """A robot under trace; `torques` remembers what it was called with."""

    robot: Robot
    asked: Any  # the specification
    torque_graph: Graph | None = None  # of the torques; None: traced from the robot's own numbers
    # what is given at run time, each with the labels of its words
    run_time: Sequence[tuple[RunTimeInput, tuple[str, ...]]] = ()
    tracer: ExactTracer = field(default_factory=ExactTracer)
    motions: list[TracedMotion] = field(default_factory=list)

    @property
    def still(self) -> list[Number]:
        """No motion."""
        return [0.0] * self.robot.degrees_of_freedom

    def input(self, array: str) -> list[Any]:
        """Return the numbers of an array of the motion, one per joint."""
        return traced_inputs(self.tracer, array, self.robot.degrees_of_freedom)

    def word(self, name: str) -> Any:
        """Return an input word, or one that is derived from them, by its name."""
        return self.tracer.input(name)

    def torques(self, qd: Sequence[Number], qdd: Sequence[Number], weightless: bool = False) -> list[Number]:
        """Return the torques of a motion, without friction."""
        if self.torque_graph is None:
            found = self._exact(TORQUES, (qd, qdd), weightless)
        else:
            motion = {"q": self.input("q"), "qd": qd, "qdd": qdd}
            inputs = {f"{kind}{j}": value for kind, values in motion.items() for j, value in enumerate(values, 1)}
            inputs |= {name: self.tracer.input(name) for name in map(angle_name, range(1, len(qd) + 1))}
            found = self.torque_graph.evaluate(inputs, self.tracer, Exact)
        self.motions.append(TracedMotion(list(qd), list(qdd), found))
        return found

    def run(self, recursion: JointRecursion) -> list[Number]:
        """Return the outputs of a recursion, of the arrays of the motion that it reads."""
        return self._exact(recursion, [self.input(name) for name in recursion.rates])

    def pose(self) -> tuple[Any, Rows]:
        """Return position and rotation of the tip, in base axes."""
        position, rotation, _, _ = trace_pose(self.robot, self.tracer)
        return position, rotation

    def jacobian(self) -> Rows:
        """Return the 6 rows of the Jacobian of the tip, in base axes."""
        return trace_jacobian(self.robot, self.tracer)

    def potential(self) -> Number:
        """Return the potential energy: 0 with all masses at the origin of the base."""
        chain = self.chain()
        position, sine, cosine = self.member_positions(chain)
        frames: list[tuple[Any, Any]] = []
        total: Any = 0.0
        for i, carrier in enumerate(chain.parent.tolist()):
            origin, rotation = ((Exact(0),) * 3, exact_array(np.eye(3))) if carrier < 0 else frames[carrier]
            way, rotation = next_frame(chain, i, rotation, position[i], sine[i], cosine[i])
            origin = add(origin, way)
            frames.append((origin, rotation))
            body, rise = chain.body[i], chain.base_acceleration
            moment = add(tuple(body[3, 3] * each for each in origin), turned(rotation, body[:3, 3]))
            for axis in range(3):
                total = total + rise[axis] * moment[axis]
        return total  # type: ignore[no-any-return]

    def chain(self, weightless: bool = False) -> Chain:
        """Return the robot's own numbers, exact, with what is given at run time."""
        chain = exact_chain(self.robot)
        for record, labels in self.run_time:
            numbers = traced_inputs(self.tracer, record.name, len(labels))
            chain = record.join(self.robot, chain, dict(zip(labels, numbers, strict=True)))
        return chain._replace(base_acceleration=exact_array(np.zeros(3))) if weightless else chain

    def member_positions(self, chain: Chain) -> tuple[Any, Any, Any]:
        """Return the positions of all joints, followers too, and their sines and cosines."""
        position = traced_positions(chain, self.tracer) * chain.multiplier + chain.offset
        return position, *sines_and_cosines(self.tracer, position)

    def _exact(
        self, recursion: JointRecursion, rates: Sequence[Sequence[Number]], weightless: bool = False
    ) -> list[Number]:
        chain = self.chain(weightless)
        position, sine, cosine = self.member_positions(chain)
        return recursion.outputs(chain, sine, cosine, position, rates)


@dataclass(frozen=True)
class TracedMotion:
    """A motion whose torques were asked for: what is proved of torques is proved of these."""

    qd: list[Number]
    qdd: list[Number]
    torques: list[Number]
