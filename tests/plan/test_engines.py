import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from diagram_samples import every_engine, interleaved, needs_cudd, ordered_tables, parity, rounded_product
from diagrams import build
from examples_tried import examples
from hypothesis import HealthCheck, given, settings

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan import engine
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import ENGINES, CuddEngine, Engine, EngineLimit, MemoryLimit, make_engine
from bddtorque.plan.reduction import reduce, start_orders
from bddtorque.plan.table import Table


@every_engine
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(sample=ordered_tables())
def test_engine_is_read_back_node_for_node(engine: str, sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    held = make_engine(engine)
    held.build(table, order)
    diagram = held.read()
    assert held.node_count() == diagram.node_count == sum(held.level_widths)
    assert held.order() == diagram.order == order
    assert held.level_widths == diagram.level_widths
    assert _same(Diagram.from_arrays(**diagram.arrays(), signed=diagram.signed), diagram)  # reduced and canonical
    np.testing.assert_array_equal(diagram.expand(), table.values)
    held.sift()
    sifted = held.read()
    assert held.node_count() == sifted.node_count <= diagram.node_count
    assert _same(sifted, build(table, held.order(), "autoref"))
    held.close()


@needs_cudd
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(sample=ordered_tables())
def test_engines_agree(sample: tuple[Table, tuple[int, ...]]) -> None:
    table, order = sample
    assert _same(build(table, order, "cudd"), build(table, order, "autoref"))


def _same(one: Diagram, other: Diagram) -> bool:
    assert one.signed == other.signed
    return one.content_key == other.content_key


@every_engine
def test_reduce(engine: str) -> None:
    table = rounded_product(5, 7)
    result = reduce(table, engine)
    np.testing.assert_array_equal(result.diagram.expand(), table.values)
    assert result.engine == engine
    assert result.notes == ()
    assert result.diagram.node_count <= min(
        build(table, order).node_count for order in start_orders(table.input_widths).values()
    )


@every_engine
def test_reduce_is_deterministic(engine: str) -> None:
    table = rounded_product(4, 5)
    keys = {reduce(table, engine).diagram.content_key for _ in range(3)}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        keys.add(pool.submit(reduce, table, engine).result().diagram.content_key)
    assert len(keys) == 1


@needs_cudd
def test_order_does_not_depend_on_who_looks_at_our_frames() -> None:
    """Profilers, Dask's own among them, hold frames for a moment, and with them what their variables name."""
    table = rounded_product(4, 5)
    alone = reduce(table, "cudd").diagram
    frames: list[object] = []
    sys.setprofile(lambda frame, *_: frames.append(frame) if "bddtorque" in frame.f_code.co_filename else None)
    try:
        watched = reduce(table, "cudd").diagram
    finally:
        sys.setprofile(None)
    assert frames and watched.order == alone.order and watched.content_key == alone.content_key


@every_engine
@pytest.mark.parametrize("value", [0, 5])
def test_constant_table(engine: str, value: int) -> None:
    result = reduce(Table(np.full(8, value), (2, 1), 3, False), engine)
    assert result.diagram.node_count == 0
    assert result.engine == engine


@every_engine
def test_sifting_finds_a_much_better_order(engine: str) -> None:
    # comparing two words: 3n - 1 nodes interleaved, more than 2**n one word after the other
    words = np.arange(1 << 14)
    table = Table(((words >> 7) < (words & 127)).astype(np.int64), (7, 7), 1, False)
    assert build(table).node_count > 128
    assert reduce(table, engine).diagram.node_count == 20


@every_engine
def test_limits_are_kept_and_said(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rounded_product(5, 7)
    nodes = build(table).node_count
    monkeypatch.setattr(ENGINES[engine], "sift_limit", nodes - 1)
    result = reduce(table, engine)
    assert result.engine == engine
    assert result.diagram.order == tuple(range(10))
    assert f"order 'words' not sifted: {nodes} nodes, {nodes - 1} left of {engine}'s {nodes - 1}" in result.notes
    np.testing.assert_array_equal(result.diagram.expand(), table.values)


@needs_cudd
def test_cudd_out_of_memory_is_said_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "nodes_within", lambda *_: 1 << 20)  # so that CUDD itself runs out
    monkeypatch.setattr(engine, "FIRST_MEMORY", 1_000_000)
    with pytest.raises(MemoryLimit, match="engine 'cudd' needs more than the 1000000 bytes"):
        make_engine("cudd", memory_limit=1_000_000).build(rounded_product(9, 11), interleaved(9))


@every_engine
def test_a_start_without_room_is_left_out_and_said(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rounded_product(5, 7)
    honest = ENGINES[engine].build

    def full(self: Engine, table: Table, order: tuple[int, ...] | None = None) -> None:
        if order == interleaved(5):
            raise MemoryLimit("no room")
        honest(self, table, order)

    monkeypatch.setattr(ENGINES[engine], "build", full)
    result = reduce(table, engine)
    assert "order 'interleaved' not built: no room" in result.notes


@needs_cudd
def test_full_engine_leaves_the_start_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: CuddEngine) -> None:
        raise EngineLimit("engine 'cudd': sifting does not fit")

    monkeypatch.setattr(CuddEngine, "sift", full)
    result = reduce(rounded_product(4, 5), "cudd")
    assert result.diagram.order == tuple(range(8))
    assert result.engine == "cudd"  # it was built once more, and read back unsifted
    assert "order 'words' not sifted: engine 'cudd': sifting does not fit" in result.notes


@every_engine
def test_what_is_stored_is_what_the_engine_holds(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Diagram] = []
    honest = ENGINES[engine].read

    def read(self: Engine) -> Diagram:
        held.append(honest(self))
        return held[-1]

    monkeypatch.setattr(ENGINES[engine], "read", read)
    table = Table(np.arange(16), (2, 2), 4, False)
    assert reduce(table, engine).diagram is held[-1]
    other = build(Table(np.arange(16)[::-1], (2, 2), 4, False))
    monkeypatch.setattr(ENGINES[engine], "read", lambda _: other)
    for make in (lambda: reduce(table, engine), lambda: build(table, None, engine)):
        with pytest.raises(BddTorqueError, match=r"index 0 must give 0, found 15 \(16 of 16 differ\)"):
            make()


def test_start_orders() -> None:
    assert start_orders((2, 3)) == {
        "words": (0, 1, 2, 3, 4),
        "interleaved": (0, 2, 1, 3, 4),
        "reversed words": (2, 3, 4, 0, 1),
    }
    assert start_orders((3,)) == {"words": (0, 1, 2), "least significant first": (2, 1, 0)}
    assert start_orders((1,)) == {"words": (0,)}
    assert len(start_orders((2, 2, 2))) == 3


def test_unknown_engine() -> None:
    with pytest.raises(BddTorqueError, match=r"got 'cud'; did you mean 'cudd'"):
        make_engine("cud")


def test_auto_falls_back_where_cudd_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dd.cudd", None)
    assert make_engine("auto").name == "autoref"
    with pytest.raises(BddTorqueError, match="engine 'cudd' is not installed"):
        make_engine("cudd")
    assert isinstance(reduce(parity(3)).diagram, Diagram)


def test_memory_limit_reaches_the_builder() -> None:
    with pytest.raises(BddTorqueError, match="raise the memory limit"):
        reduce(parity(12), memory_limit=100_000)


def test_diagrams_load_without_dd() -> None:
    program = (
        "import sys; sys.modules.update({'dd': None, 'rich': None, 'typer': None})\n"
        "import numpy as np\n"
        "from bddtorque.plan.bdd import Diagram\n"
        "from bddtorque.plan.forms import FORMS, check_form, make_form\n"
        "from bddtorque.plan.table import Table\n"
        "diagram = Diagram.from_arrays([2, 1, 0], [0, 0, 0], [0, 1, 3], [4], [0, 1], False)\n"
        "table = Table(np.array([0, 0, 1, 0]), (2,), 1, False)\n"
        "[check_form(make_form(name, table, diagram), table) for name in FORMS]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
