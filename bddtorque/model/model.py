"""`Model`: a compiled robot. It needs NumPy and Numba, and nothing of the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bddtorque.base.html_table import html_table
from bddtorque.diagrams.bdd import Diagram
from bddtorque.evaluate.evaluator import Evaluator, Floats, Integers, OnRange
from bddtorque.model.stored import Stored
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_to_plain
from bddtorque.spec.spec import Spec
from bddtorque.words import Formats

_CALLS = ("torque", "torque_words")


@dataclass(frozen=True, eq=False)
class Model(Stored):
    """A compiled robot: its words, its cascade, one table and one diagram a block, and what is proved of it.

    Attributes
    ----------
    robot, spec, formats, plan, certificate
    tables, diagrams : one a block of the plan
    report : how compiling went (times, memory, notes); empty for a loaded model, and no part of the digest
    """

    robot: Robot
    spec: Spec
    formats: Formats
    plan: Plan
    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]
    certificate: Certificate
    report: dict[str, Any] = field(default_factory=dict, compare=False)

    def evaluator(
        self,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "saturate",
        processors: int | None = None,
    ) -> Evaluator:
        """Return an evaluator with its own counts; see `Evaluator`."""
        return Evaluator(self, kind, form, on_range, processors)

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""
        return self.spec.memory

    @cached_property
    def _words(self) -> Evaluator:
        evaluator = self.evaluator("words")
        # from now on the model's calls are the evaluator's own: one call less, which single states would notice
        for name in _CALLS:
            object.__setattr__(self, name, getattr(evaluator, name))
        return evaluator

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the evaluator: a copy makes its own."""
        return {name: value for name, value in vars(self).items() if name not in ("_words", *_CALLS)}

    def torque(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Return torques (N·m or N) of states in floats, (n,) or (N, n), by the evaluator ``"words"``."""
        return self._words.torque(q, qd, qdd)

    def torque_words(self, q: Any, qd: Any, qdd: Any, out: Integers | None = None) -> Integers:
        """Return torque words (in `out` if given) of input words, integers (n,) or (N, n), by the evaluator "words"."""
        return self._words.torque_words(q, qd, qdd, out)

    def kernel(self, kind: str = "words") -> Callable[..., None]:
        """Return a compiled function kernel(q, qd, qdd, tau) on word arrays (n,), for an own njit loop."""
        return (self._words if kind == "words" else self.evaluator(kind)).kernel

    def defining(self) -> dict[str, Any]:
        """Return all that the digest covers as plain data: robot, spec, formats, plan, certificate, tables by key."""
        return {
            "robot": robot_to_plain(self.robot),
            "spec": self.spec.canonical(),
            "formats": self.formats.to_plain(),
            "plan": self.plan.to_plain(),
            "certificate": self.certificate.to_plain(),
            "tables": [table.content_key for table in self.tables],
        }

    def summary(self) -> dict[str, Any]:
        """Return the figures people ask for: terms, blocks, rows, nodes, bytes, bounds."""
        return {
            "robot": self.robot.name,
            "source": self.plan.source,
            "target": self.plan.target,
            "bits": {name: list(getattr(self.formats, name).bits) for name in ("q", "qd", "qdd", "tau")},
            **self.sizes(),
            "bound": list(self.certificate.bounds),
            "faithful": self.certificate.faithful,
            "digest": self.digest,
        }

    def __repr__(self) -> str:
        bits = "/".join(map(str, dict.fromkeys(self.formats.tau.bits)))
        bound = max(self.certificate.bounds)
        return (
            f"<bddtorque model of {self.robot.name}: {bits} bits, {len(self.tables)} blocks, bound {bound:.3f} units>"
        )

    def _repr_html_(self) -> str:
        formats = self.formats
        head = ("joint", "position", "velocity", "acceleration", "torque", "bound, units", "bound", "saturates")
        rows = [
            (
                proved.joint,
                *(f"{word.bits} bits, {word.lsb:.4g} {word.unit}" for word in words),
                f"{proved.bound:.4f}",
                f"{proved.bound_si:.4g} {proved.unit}",
                proved.saturation,
            )
            for proved, *words in zip(
                self.certificate.torques, formats.q, formats.qd, formats.qdd, formats.tau, strict=True
            )
        ]
        nodes = sum(diagram.node_count for diagram in self.diagrams)
        made = (
            f"Source {self.plan.source}, target {self.plan.target}, {len(self.tables)} tables, {nodes:,} diagram "
            f"nodes, digest {self.digest[:12]}…"
        )
        return html_table(f"{self.robot.name}, compiled by bddtorque", head, rows, [made])
