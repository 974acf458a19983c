"""A certificate that knows what follows from where its model comes from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bddtorque.model.provenance import Provenance
from bddtorque.proof.certificate import Certificate
from bddtorque.proof.proved_bound import ProvedBound
from bddtorque.proof.torque_extents import torque_ranges
from bddtorque.words.interface import Interface


def certificate_of(outputs: tuple[ProvedBound, ...], formats: Interface, provenance: Provenance) -> Certificate:
    """Return the certificate of a model: it finds how large torques can be, and knows what they are at the motors."""
    quantity, efforts = provenance.quantity, provenance.efforts
    if quantity is not None and any(efforts) and any(array.per_joint for array in quantity.outputs):
        outputs = tuple(replace(proved, effort=own) for proved, own in zip(outputs, efforts, strict=True))
    if provenance.is_torque:
        robot, _ = provenance.require_robot()
        return Certificate(outputs, partial(torque_ranges, robot, formats))
    return Certificate(outputs)
