"""Machines run side by side: those that can, agree with Newton-Euler and the words, sliding joints or not."""

from compiled import compiled

from machines.cost_model import word_steps
from machines.machine_torques import run_machines


def test_machines_agree_on_an_arm_with_a_sliding_joint() -> None:
    model = compiled("scara", bits=4)
    found = run_machines(model, word_steps(4), 5)
    for each in found:
        cannot = each.machine.name.startswith("Fijany")
        assert (each.error is None) == cannot and (each.machine.time is None) == cannot
        assert cannot or each.agrees is (None if each.machine.name.startswith("Horn") else True), each
    assert [each.machine for each in found if "serial" in each.machine.name and each.machine.messages] == []
