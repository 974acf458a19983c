"""Records of the simulator: costs as printed, few hops, no realignment, who waits for what (F19, F20)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from machines.fijany.array_costs import PRINTED, doublings_of, fitted, heading_costs, measured_costs
from machines.fijany.bias_torques import BIAS_PHASES
from machines.fijany.forward_array import PHASES, PHASES_OF, ArrayRun, loaded_array, run_array
from machines.fijany.inertia import INERTIA_PHASES, doublings
from machines.fijany.owned_words import ArrayCosts, Path, Word
from machines.fijany.solve import SOLVE_PHASES
from machines.fijany.triangular_array import Processor, TriangularArray
from machines.generic_arms import generic_arm

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17)
POWERS = (4, 8, 16, 32)


@cache
def run_of(n: int, barriers: bool = True) -> ArrayRun:
    return measured_costs(n, barriers=barriers)


def loaded(n: int) -> TriangularArray:
    state = np.linspace(0.2, 1.0, n)
    return loaded_array(generic_arm(n), state, state, state)


def run_until(array: TriangularArray, *stages) -> None:
    for stage in stages:
        for name, programme in stage:
            array.run(name, programme)


@pytest.mark.parametrize("n", SIZES)
def test_doubling_steps(n: int) -> None:  # F19
    assert len(list(doublings(n))) == doublings_of(n) == int(np.ceil(np.log2(n)))
    # as run: every step of (17) is one product of 3×3 matrices, 27 multiplications
    assert run_of(n).phases["(17) R(n+1,j)"].path.multiplications == 27 * doublings_of(n)


@pytest.mark.parametrize("n", SIZES)
def test_no_phase_of_the_inertia_matrix_costs_more_than_printed(n: int) -> None:
    found = heading_costs(run_of(n))
    for name in (*(name for name, _ in INERTIA_PHASES), "step 1", "step 2", "step 3", "inertia matrix"):
        assert found[name].multiplications <= PRINTED[name].at(n).multiplications
        assert found[name].additions <= PRINTED[name].at(n).additions
    assert found["step 1"][:2] == PRINTED["step 1"].at(n)[:2]
    assert found["solve"][:2] == PRINTED["solve"].at(n)[:2]  # whatever n is


@pytest.mark.parametrize("name", [name for name in PRINTED if name not in ("bias", "total", "articulated body")])
def test_measured_formulas_are_the_printed_ones(name: str) -> None:  # F20 and all its parts
    """At powers of two, where every doubling joins halves that are full; between them some paths are shorter."""
    assert fitted({n: heading_costs(run_of(n))[name] for n in POWERS}) == PRINTED[name]


def test_measured_bias_and_total() -> None:
    """FIJ projects a second inertia, which K makes needless: 54m + 36a less; row 1 projects gravity, 3m more."""
    bias = fitted({n: heading_costs(run_of(n))["bias"] for n in POWERS})
    again = PRINTED["(22) K"].constant
    assert bias.per_doubling == PRINTED["bias"].per_doubling
    assert bias.constant.multiplications + again.multiplications == PRINTED["bias"].constant.multiplications + 3
    assert bias.constant.additions + again.additions == PRINTED["bias"].constant.additions - 3
    total = fitted({n: heading_costs(run_of(n))["total"] for n in POWERS})
    assert (total.per_joint, total.per_doubling) == (PRINTED["total"].per_joint, PRINTED["total"].per_doubling)
    assert total.constant == Path(197, 132)


@pytest.mark.parametrize("n", SIZES)
def test_without_barriers_nothing_takes_longer(n: int) -> None:
    driven, stepped = run_of(n, barriers=False), run_of(n)
    assert driven.phases["output"].path.time(ArrayCosts()) <= heading_costs(stepped)["total"].time(ArrayCosts())
    np.testing.assert_array_equal(driven.accelerations, stepped.accelerations)
    # gravity is projected while the other rows do what row 1 is spared: the 3m more are gone
    if n in POWERS:
        assert driven.phases["output"].path[:2] == Path(*heading_costs(stepped)["total"]).then(Path(-3))[:2]


def test_costs_do_not_depend_on_the_state_or_on_zeros() -> None:
    arm = generic_arm(5)
    still = run_array(arm, np.zeros(5), np.zeros(5), np.zeros(5))
    assert heading_costs(still) == heading_costs(run_of(5))


@pytest.mark.parametrize("n", SIZES)
def test_hops_of_every_phase_are_linear_in_n(n: int) -> None:
    """Distance h costs h hops, and yet no chain of hops within a phase is longer than a way along the column."""
    run = run_of(n)
    for name, record in run.phases.items():
        assert record.hops <= (4 * (n - 1) if name == "solve" else n - 1), name
    assert run.phases["solve"].hops == 4 * (n - 1)
    assert run.phases["(17) R(n+1,j)"].hops == n - 1  # what row 1 gets comes from row n
    assert sum(run.hops(heading) for heading in PHASES_OF) == 13 * n - 12


def test_processors_and_messages_add_up() -> None:
    run = run_of(6)
    assert len(run.array) == 21
    assert [record.name for record in run.array.records] == [name for name, _ in PHASES]
    assert sum(each.messages for each in run.array) == sum(each.messages for each in run.phases.values())
    assert run.phases["(22) K"].messages == run.phases["b"].messages == 0


def test_results_stay_where_the_next_phase_reads_them() -> None:
    """No realignment: a_ji is computed in PR_ji and factored there; nothing moves between the algorithms."""
    array = loaded(6)
    run_until(array, PHASES[:1], INERTIA_PHASES)
    elements = {each.name: each["a"] for each in array}
    sent = {each.name: each.messages for each in array}
    for processor in array:
        assert isinstance(processor["a"], Word)
        assert processor["a"].owner is processor
    run_until(array, BIAS_PHASES)
    for processor in array:
        assert processor["a"] is elements[processor.name]
        if processor.column > 1:
            assert processor.messages == sent[processor.name]  # the bias concerns column 1 alone
        else:
            assert processor["b"].owner is processor
    names = [name for name, _ in PHASES]
    assert names.index("w") == names.index("(30) a") + 1
    assert names.index("solve") == names.index("b") + 1


def test_step_2_and_3_take_what_step_1_left() -> None:
    """Every phase but the input runs on an array from which the channels have been cut off."""
    array = loaded(5)
    run_until(array, PHASES[:1])
    array.inputs.clear()
    run_until(array, INERTIA_PHASES, BIAS_PHASES, SOLVE_PHASES)
    assert array[5, 1]["qdd"].owner is array[5, 1]


@pytest.mark.parametrize("n", (1, 2, 6, 9))
def test_accelerations_end_in_column_1_and_leave_by_n_channels(n: int) -> None:
    array = loaded(n)
    run_until(array, PHASES)
    assert [each for each in array if "qdd" in each] == [array[row, 1] for row in range(1, n + 1)]
    assert all(len(values) == 1 for values in array.outputs.values())
    assert set(array.inputs) == set(array.outputs) == set(range(1, n + 1))
    assert all(len(values) == 4 for values in array.inputs.values())  # sine, cosine, velocity, torque of one joint


@pytest.mark.parametrize("n", (2, 3, 6, 9))
def test_columns_2_to_n_wait_for_gamma(n: int) -> None:
    run = run_of(n, barriers=False)

    def time(path: Path) -> float:
        return path.time(ArrayCosts())

    gamma = max(time(run.phases["b"].paths[row, 1]) for row in range(1, n + 1)) + 1  # one addition: tau - b
    for position, path in run.phases["solve"].triggered.items():
        if position[1] > 1:
            assert time(path) >= gamma
            assert time(run.phases["(30) a"].paths[position]) < gamma  # its own element had long been there
    assert {position for position in run.phases["solve"].triggered if position[1] > 1} == {
        (each.row, each.column) for each in run.array if each.column > 1
    }


def test_the_longest_way_is_the_first_columns() -> None:
    """FIJ section III: the cost of the matrix is that of its first column."""
    record = run_of(8).phases["(28)-(29) F, N"]
    longest = {
        column: max(path.time(ArrayCosts()) for (_, i), path in record.paths.items() if i == column)
        for column in range(1, 9)
    }
    assert longest[1] == record.path.time(ArrayCosts())
    assert all(longest[i] >= longest[i + 1] for i in range(1, 8))


def test_a_programme_that_reads_from_afar_cannot_run() -> None:
    """The doubling of step 3, had it been written with a direct read over distance h instead of h hops."""
    array = loaded(6)

    def direct(processor: Processor):
        if processor.row + 2 <= 6:
            outer = yield (processor.row + 2, processor.column)
            processor["F"] = outer

    with pytest.raises(ValueError, match="expected a nearest neighbour, got row 3, column 1"):
        array.run("direct", direct)
