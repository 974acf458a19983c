"""The simulated array: who may read what, and that what is counted is what was done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.fijany.inertia import from_rows
from machines.fijany.owned_words import ArrayCosts, ArrayError, Path, Word
from machines.fijany.triangular_array import Processor, Running, TriangularArray


def idle(processor: Processor) -> Running:
    yield from ()


def only(position: tuple[int, int], programme):
    """Return a programme that one processor runs while all others do nothing."""

    def run(processor: Processor) -> Running:
        if (processor.row, processor.column) == position:
            yield from programme(processor)

    return run


def test_the_size_of_the_array() -> None:  # F18
    assert len(TriangularArray(6)) == 21
    for n in range(1, 12):
        array = TriangularArray(n)
        assert len(array) == n * (n + 1) // 2
        assert all(1 <= each.column <= each.row <= n for each in array)
    for outside in ((0, 1), (2, 3), (5, 1), (1, 0)):
        with pytest.raises(ArrayError, match="a processor of rows 1 to 4"):
            TriangularArray(4)[outside]
    with pytest.raises(ArrayError, match="at least 1 row"):
        TriangularArray(0)


@pytest.mark.parametrize("far", [(1, 1), (5, 2), (4, 3), (2, 1), (3, 2)])
def test_a_packet_goes_to_a_nearest_neighbour_or_nowhere(far: tuple[int, int]) -> None:
    def send(processor: Processor) -> Running:
        processor.send(far, (processor.word(1.0),))
        yield from ()

    def wait(processor: Processor) -> Running:
        yield far

    for programme in (send, wait):
        with pytest.raises(ArrayError, match="PR_3,2: expected a nearest neighbour, got row"):
            TriangularArray(6).run("afar", only((3, 2), programme))


def test_a_neighbour_beyond_the_edge_is_refused() -> None:
    def send(processor: Processor) -> Running:
        processor.send(processor.right, (processor.word(1.0),))  # the diagonal has nobody to its right
        yield from ()

    with pytest.raises(ArrayError, match="got row 3, column 4"):
        TriangularArray(6).run("edge", only((3, 3), send))


def test_words_of_others_cannot_be_read() -> None:
    array = TriangularArray(3)
    for processor in array:
        processor["x"] = processor.word(2.0)
    foreign = array[2, 1]["x"]

    def mixed(processor: Processor) -> Running:
        processor["x"] * foreign
        yield from ()

    def foreign_alone(processor: Processor) -> Running:
        foreign + foreign
        yield from ()

    def memory(processor: Processor) -> Running:
        array[2, 1]["x"]
        yield from ()

    def overwritten(processor: Processor) -> Running:
        array[2, 1]["x"] = 0.0
        yield from ()

    def passed_on(processor: Processor) -> Running:
        processor.send(processor.below, (foreign,))
        yield from ()

    for programme, message in (
        (mixed, "both words must be of one processor"),
        (foreign_alone, "only its own program may do it"),
        (memory, "only its own program may use it"),
        (overwritten, "only its own program may use it"),
        (passed_on, "may send only its own words"),
    ):
        with pytest.raises(ArrayError, match=message):
            array.run("theft", only((1, 1), programme))
    with pytest.raises(ArrayError, match="only its own program may do it"):
        foreign * foreign  # nobody runs
    assert array[2, 1]["x"].value == 2.0


def test_a_neighbour_reads_what_was_sent_and_owns_it() -> None:
    array = TriangularArray(2)

    def programme(processor: Processor) -> Running:
        if processor.row == 1:
            processor.send(processor.below, (processor.word(3.0), 0.0))
        elif processor.column == 1:
            x, constant = yield processor.above
            assert isinstance(x, Word)
            assert x.owner is processor
            processor["x"] = x * x + constant

    record = array.run("square", programme)
    assert array[2, 1]["x"].value == 9.0
    assert (record.messages, record.words, record.hops) == (1, 2, 1)
    assert record.work == Path(1, 0)


def test_who_waits_in_vain_is_named() -> None:
    def wait(processor: Processor) -> Running:
        yield processor.above

    with pytest.raises(ArrayError, match="PR_2,1 waits for PR_1,1, which sends nothing more"):
        TriangularArray(3).run("wait", only((2, 1), wait))


def test_a_packet_left_unread_is_an_error() -> None:
    def send(processor: Processor) -> Running:
        processor.send(processor.below, (processor.word(1.0),))
        yield from ()

    with pytest.raises(ArrayError, match="PR_3,2 has not read what PR_2,2 sent"):
        TriangularArray(3).run("send", only((2, 2), send))


def test_channels_end_in_column_1() -> None:
    array = TriangularArray(3)
    array.inputs[2] += [5.0]

    def through(processor: Processor) -> Running:
        processor.to_channel(processor.from_channel())
        yield from ()

    array.run("through", only((2, 1), through))
    assert array.outputs == {1: [], 2: [5.0], 3: []}
    with pytest.raises(ArrayError, match="PR_2,2: channels end in column 1"):
        array.run("elsewhere", only((2, 2), through))


def test_operations_are_counted_and_constants_are_not() -> None:
    array = TriangularArray(1)

    def programme(processor: Processor) -> Running:
        x, zero = processor.word(3.0), processor.word(0.0)
        assert (x + 0.0) is x
        assert x * 0.0 == 0.0
        assert (1.0 * x) is x
        assert (-1.0 * x).value == -3.0
        processor["y"] = (2.0 * x - x * zero + 1.0) / x + (0.0 - x)  # 2 products, 1 quotient; 3 sums: words can be 0
        yield from ()

    record = array.run("counts", programme)
    assert array[1, 1]["y"].value == pytest.approx(7.0 / 3.0 - 3.0)
    assert record.work == record.path == Path(3, 3)


def test_the_longest_path_waits_for_packets() -> None:
    def programme(processor: Processor) -> Running:
        x = processor.word(1.0)
        if processor.row == 1:
            for _ in range(4):
                x = x * x
            processor.send(processor.below, (x,))
        elif processor.column == 1:
            y = x + x + x  # done before the packet comes: not on the path
            (z,) = yield processor.above
            processor["x"] = y + z

    array = TriangularArray(2, ArrayCosts(1.0, 1.0, 0.0))
    assert array.run("late", programme).path == Path(4, 1, 1)
    slow_sums = TriangularArray(2, ArrayCosts(1.0, 10.0, 0.0))
    assert slow_sums.run("early", programme).path == Path(0, 3, 0)
    slow_links = TriangularArray(2, ArrayCosts(1.0, 1.0, 100.0))
    assert slow_links.run("links", programme).path.time(slow_links.costs) == 105.0
    # clocks start anew after a barrier, and go on without one
    assert array.run("again", programme).path == Path(4, 1, 1)
    driven = TriangularArray(2, barriers=False)
    driven.run("late", programme)
    assert driven.run("again", programme).path == Path(8, 1, 1)


@given(st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_a_distance_of_h_rows_costs_h_hops(n: int, h: int, upwards: bool) -> None:
    """Packets of all rows of all columns move at once; each arrives where it should, after h hops, and no other."""
    array = TriangularArray(n, ArrayCosts(0.0, 0.0, 1.0))
    distance = h if upwards else -h

    def programme(processor: Processor) -> Running:
        own = processor.word(np.float64(processor.row + 100 * processor.column))
        processor["got"] = yield from from_rows(processor, (own,), distance)

    record = array.run("shift", programme)
    moved = 0
    for processor in array:
        origin = processor.row + distance
        if processor.column <= origin <= n:
            assert processor["got"][0].value == origin + 100 * processor.column
            moved += 1
        else:
            assert processor["got"] is None
    assert record.messages == moved * h
    assert record.hops == record.path.hops == (h if moved else 0)
