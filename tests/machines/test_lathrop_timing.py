"""Longest paths of Lathrop's machines beside his formulas (F05 to F08, F10), and his processors (F12)."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from oracle import random_states

import bddtorque as bt
from machines.lathrop.lathrop_torques import float_state
from machines.lathrop.linear import linear_recursion
from machines.lathrop.linear_program import INWARD_STEPS, linear_program, outward_steps, program_inputs
from machines.lathrop.logarithmic_program import (
    INWARD_COMBINATION,
    OUTWARD_COMBINATION,
    Leaf,
    logarithmic_program,
)
from machines.lathrop.prefix import sklansky
from machines.lathrop.summation_orders import best_summation
from machines.lathrop.vector_program import Times, availability, duration, inputs_of, processors_by_group, run
from machines.lathrop.wiring import wires_by_group

RATIOS = [Times(1, 1), Times(2, 1), Times(1, 2), Times(5, 1), Times(1, 5)]


def arm(n: int) -> list[bool]:
    return [True] * n


@pytest.mark.parametrize("n", [*range(1, 33), 69])
def test_linear_time_is_equation_1_and_end_to_end_equation_5(n: int) -> None:
    inputs_free, end_to_end, with_base = (
        linear_program(arm(n)),
        linear_program(arm(n), end_to_end=True),
        linear_program(arm(n), base_node=True),
    )
    for times in RATIOS:
        assert duration(inputs_free, times) == times.sum(2 * n + 3, 6 * n + 7)  # F06, eq. (1)
        assert duration(end_to_end, times) == times.sum(2 * n + 5, 6 * n + 9)  # F06, eq. (5)
        assert duration(with_base, times) == times.sum(2 * n + 4, 6 * n + 10)
        if n > 1:
            assert duration(best_summation(inputs_free, times), times) == times.sum(2 * n + 3, 6 * n + 6)


def test_six_joints_in_flops() -> None:
    assert duration(linear_program(arm(6)), Times()) == 58  # F05: 15m + 43a
    assert duration(linear_program(arm(6), end_to_end=True), Times()) == 62
    assert duration(logarithmic_program(arm(6)), Times()) == 39  # F07: 11m + 28a


def printed_logarithmic(n: int, times: Times) -> float:
    L = ceil(log2(n + 1))
    return times.sum(2 * L + 5, 6 * L + 10)  # eq. (2) and (17)


@pytest.mark.parametrize(
    "n",
    [
        *(*range(1, 10), 15, 16, 17, 32),
        *(pytest.param(n, marks=pytest.mark.everything) for n in (*range(10, 15), 18, 19, 31, 33, 63, 64, 65, 69)),
    ],
)
def test_logarithmic_time(n: int) -> None:
    inward_tiers = ceil(log2(n))
    tiers = ceil(log2(n + 1)) + inward_tiers
    matrix, combined, undistributed, free = (
        logarithmic_program(arm(n)),
        logarithmic_program(arm(n), leaf="combination"),
        logarithmic_program(arm(n), distributed=False),
        logarithmic_program(arm(n), leaf="free", end_to_end=True),
    )
    for times in RATIOS:
        found = duration(matrix, times)
        assert found == times.sum(tiers + 5, 3 * tiers + 10)
        if n & (n - 1):  # F08: not a power of two
            assert found == printed_logarithmic(n, times)
        else:  # the inward tree has one tier less than the printed formula thinks
            assert found == printed_logarithmic(n, times) - times.sum(1, 3)
        assert duration(free, times) == found  # free leaves and a dot product: the same
        assert duration(combined, times) == found + times.addition  # Appendix B
        assert duration(undistributed, times) == found + inward_tiers * times.addition
        best = duration(best_summation(matrix, times), times)
        assert best == (found if n >= 4 else found - times.addition)


@pytest.mark.parametrize("times", RATIOS, ids=str)
def test_staggers(times: Times) -> None:
    ready = availability(linear_program(arm(9)), times)
    for i in range(1, 10):
        assert ready[f"wd[{i}]"] - ready[f"w[{i}]"] == times.sum(1, 2)  # F10: VC + VA
        assert ready[f"pdd[{i}]"] - ready[f"w[{i}]"] == times.sum(2, 5)  # 2 VC + 3 VA
        if i > 1:
            for name in ("w", "wd", "pdd"):
                assert ready[f"{name}[{i}]"] - ready[f"{name}[{i - 1}]"] == times.sum(1, 3)
    # summed as printed, T20 to T23 one after another, the first inward node is an addition late, and n stays late
    assert {ready[f"n[{i}]"] - ready[f"f[{i}]"] for i in range(1, 10)} == {times.sum(1, 3)}
    best = availability(best_summation(linear_program(arm(9)), times), times)
    assert [best[f"n[{i}]"] - best[f"f[{i}]"] for i in range(8, 0, -1)] == [times.sum(1, 2)] * 8  # F10: VC + VA


@pytest.mark.parametrize("times", RATIOS, ids=str)
@pytest.mark.parametrize("n", [3, 7, 15, 31])
def test_availability_grows_with_the_logarithm_of_the_interval(n: int, times: Times) -> None:
    """LAT eq. (15): Avail(X_ab) = Avail(X_aa) + ⌈log2(b − a + 1)⌉ (MV + VA), for w."""
    ready = availability(logarithmic_program(arm(n)), times)
    for name, found in ready.items():
        if name.startswith("w[") and "," in name:
            first, last = map(int, name[2:-1].split(","))
            assert found == ready[f"w[{first},{first}]"] + ceil(log2(last - first + 1)) * times.sum(1, 3)


def test_processors_of_table_6() -> None:
    outward = processors_by_group(each for each in linear_program(arm(1)) if each.place.startswith("outward"))
    assert outward == {"w": 2, "wd": 4, "pdd": 6, "rdd": 5, "F": 1, "N": 4}
    assert sum(outward.values()) == 22 == len(outward_steps(True))  # F12
    assert len(INWARD_STEPS) == 8
    combination = processors(OUTWARD_COMBINATION)
    assert combination == {"W": 3, "w": 2, "wd": 4, "Q": 2, "R": 2, "S": 4, "pdd": 9}
    load = sum(outward[name] for name in ("rdd", "F", "N"))
    node = sum(combination.values()) + load
    assert node == 36
    inward = processors(INWARD_COMBINATION)
    assert inward == {"V": 3, "f": 2, "n": 5, "arm": 2}
    inward_node = sum(inward.values()) - 1 + 2  # LAT takes one operation for the arm, and has T20 and T21 in the node
    assert inward_node == 13
    tiers = [len(tier) for tier in sklansky(6)]
    assert (node * max(tiers), inward_node * max(tiers)) == (108, 39)
    assert (22 * 6, 8 * 6, node * (sum(tiers) + 6), inward_node * (sum(tiers) + 6)) == (132, 48, 468, 169)


def test_wires_of_the_groups() -> None:
    nodes = {
        "linear outward": outward_steps(True),
        "linear inward": INWARD_STEPS,
        "logarithmic outward": OUTWARD_COMBINATION,
        "logarithmic inward": INWARD_COMBINATION,
    }
    wires = {name: wires_by_group(steps) for name, steps in nodes.items()}
    assert max(count for groups in wires.values() for count in groups.values()) == 18  # pdd of a combination
    # at most 50 holds for every group of a variable, and for every whole node but one
    assert {name for name, groups in wires.items() if sum(groups.values()) > 50} == {"logarithmic outward"}
    assert wires["linear outward"] == {"w": 3, "wd": 7, "pdd": 9, "rdd": 8, "F": 1, "N": 6}  # counted by hand


def processors(steps: tuple) -> dict[str, int]:
    counted: dict[str, int] = {}
    for _, primitive, _, _, group in steps:
        counted[group] = counted.get(group, 0) + primitive.processors
    return counted


@pytest.mark.parametrize("name", ["planar3r_b", "scara", "stanford", "puma560", "panda"])
def test_programs_compute_what_the_recursion_does(name: str) -> None:
    robot = bt.load_robot(name)
    state = float_state(robot, *random_states(robot, 4, 1))
    inputs, recursion = program_inputs(state), linear_recursion(state)
    kinds = state.arm.revolute
    leaves: tuple[Leaf, ...] = ("matrix", "combination")
    programs = [linear_program(kinds, end_to_end=True), best_summation(linear_program(kinds, end_to_end=True), Times())]
    programs += [
        logarithmic_program(kinds, True, leaf, distributed, tip)
        for leaf in leaves
        for distributed in (True, False)
        for tip in (True, False)
    ]
    for program in programs:
        assert set(inputs_of(program)) <= set(inputs)
        values = run(program, inputs)
        for i, expected in enumerate(recursion.tau, start=1):
            assert np.allclose(values[f"tau[{i}]"], expected, rtol=0, atol=1e-12 * max(1, np.abs(expected).max()))
