"""All that is measured of one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bddtorque.bench.calls import Call, python_calls
from bddtorque.bench.latency import Latency, latency
from bddtorque.bench.timing import Timing, bench
from bddtorque.model.model import Model


@dataclass(frozen=True)
class Report:
    """What `measure` found.

    Attributes
    ----------
    robot, target, source : the model's
    bits : of the torques, joint by joint
    bound : proved, of the worst joint, in units of the last bit
    timings : throughput in compiled loops and batches, beside the peers
    calls : from Python, one state at a time
    latency : of single calls, where it was asked for
    """

    robot: str
    target: str
    source: str
    bits: tuple[int, ...]
    bound: float
    timings: tuple[Timing, ...]
    calls: tuple[Call, ...]
    latency: Latency | None

    def timing(self, name: str) -> Timing:
        """Return the timing of a contender."""
        return next(each for each in self.timings if each.name == name)

    def call(self, name: str) -> Call:
        """Return the cost of a way to call."""
        return next(each for each in self.calls if each.name == name)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "robot": self.robot,
            "target": self.target,
            "source": self.source,
            "bits": list(self.bits),
            "bound": self.bound,
            "timings": [each.to_plain() for each in self.timings],
            "calls": [each.to_plain() for each in self.calls],
            "latency": None if self.latency is None else self.latency.to_plain(),
        }


def measure(model: Model, states: int, rounds: int, seed: int = 0, with_latency: bool = False) -> Report:
    """Measure a model: evaluators beside peers, calls from Python and, if asked for, the latency of single calls."""
    return Report(
        model.robot.name,
        model.plan.target,
        model.plan.source,
        model.formats.tau.bits,
        max(model.certificate.bounds),
        tuple(bench(model, rounds, states, seed)),
        tuple(python_calls(model, rounds=10 * rounds, seed=seed)),
        latency(model, seed=seed) if with_latency else None,
    )
