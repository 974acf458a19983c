"""Tables as ROMs: folded and by classes where that saves block memory, the same words for every index."""

from __future__ import annotations

import numpy as np
import pytest
from verilog_tools import needs_iverilog, simulate

from bddtorque.export.verilog_exporter import testbench_text as bench_text
from bddtorque.export.verilog_stages import Circuit, Stage, stage_times
from bddtorque.export.verilog_tables import RowClasses, hex_text, is_block, memory_blocks, split_at, table_stage
from bddtorque.export.verilog_text import ModuleWriter, Ports
from bddtorque.plan.table import Table
from bddtorque.words.integer_range import index_words, word_range

WORDS = index_words(10)
ANGLES = 2 * np.pi * WORDS / 1024
ONE_WORD = {
    "cosine": np.round(500 * np.cos(ANGLES)),
    "sine": np.round(500 * np.sin(ANGLES)),
    "mirrored": np.round(300 * np.sin(ANGLES) + 200),
    "even": np.minimum(np.abs(WORDS), 400) - 7,
    "odd": np.where(WORDS == -512, 5, np.sign(WORDS) * (np.abs(WORDS) // 3)),
    "neither": WORDS // 2,
}


def check(table: Table, folder, most_bits: int) -> None:
    """Simulate the stage of a table on every index, and compare the bits of its ROMs."""
    circuit = Circuit()
    words = [
        circuit.add(Stage((), "", word_range(bits), "input", place=k)) for k, bits in enumerate(table.input_widths)
    ]
    circuit.outputs = [table_stage(circuit, table, words)]
    stage = circuit.stages[circuit.outputs[0]]
    ports = Ports({f"x{k}": bits for k, bits in enumerate(table.input_widths)}, {"y": stage.bits})
    writer = ModuleWriter("dut", circuit, stage_times(circuit), ports)
    (folder / "dut.v").write_text(writer.text())
    for k, memory in enumerate(circuit.memories):
        (folder / f"dut_rom{k}.hex").write_text(hex_text(memory.words, memory.bits))
    rows = [
        f"{index << stage.bits | int(value) & ((1 << stage.bits) - 1):x}" for index, value in enumerate(table.values)
    ]
    (folder / "dut_vectors.hex").write_text("\n".join(rows) + "\n")
    (folder / "dut_tb.v").write_text(bench_text("dut", ports, len(rows)))
    assert simulate(folder, "dut_tb.v", "dut.v")[-1] == f"OK: {len(rows)} states"
    assert sum(len(memory.words) * memory.bits for memory in circuit.memories if is_block(memory)) <= most_bits


@needs_iverilog
@pytest.mark.parametrize("name", ONE_WORD)
def test_every_word_of_a_folded_table(name, tmp_path):
    values = ONE_WORD[name].astype(np.int64)
    table = Table(values, (10,), 11, True)
    part = {"cosine": 256 * 9, "sine": 256 * 9, "mirrored": 512 * 10, "even": 512 * 10, "odd": 512 * 9}
    check(table, tmp_path, part.get(name, 1024 * 10))


@needs_iverilog
def test_every_word_of_a_table_by_classes(tmp_path):
    x, y, z = np.meshgrid(*(np.arange(16) for _ in range(3)), indexing="ij")
    values = (37 * (x // 4) + 11 * (y // 8) + 5 * (z % 3) - 80).reshape(-1)
    table = Table(values, (4, 4, 4), 9, True)
    assert memory_blocks(12, 8) == 8
    check(table, tmp_path, 4096)


def test_blocks_of_memory():
    assert [memory_blocks(*shape) for shape in ((6, 40), (7, 16), (8, 17), (9, 8), (11, 3), (12, 12))] == [
        0, 1, 2, 1, 2, 12,
    ]  # fmt: skip


def test_rows_and_columns_that_are_alike_are_one() -> None:
    rows, columns = np.arange(32) % 3, np.arange(16) // 6
    table = Table((10 * rows[:, None] + columns).reshape(-1), (5, 4), 6, False)
    classes = RowClasses.from_table(table)
    assert classes.words.tolist() == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert classes.rows.tolist() == (rows * 3).tolist()
    assert classes.columns.tolist() == columns.tolist()


@pytest.mark.parametrize(
    ("widths", "bits"), [((10, 10), 10), ((2, 9), 2), ((4, 4, 4), 4), ((2, 3, 9), 5), ((1, 1, 1, 5), 3)]
)
def test_where_an_index_is_split(widths: tuple[int, ...], bits: int) -> None:
    assert split_at(widths) == bits


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_classes_are_the_distinct_rows_and_columns(distinct: int) -> None:
    values = np.random.default_rng(distinct).integers(-distinct, distinct, (8, 16))[:, np.arange(64) % 16]
    table = Table(values.reshape(-1), (3, 2, 4), 12, True)
    classes = RowClasses.from_table(table)
    np.testing.assert_array_equal(classes.expand(), table.values)
    square = table.values.reshape(len(classes.rows), len(classes.columns))
    columns = int(classes.columns.max()) + 1
    assert columns == len(np.unique(square, axis=1).T)
    assert len(classes.words) == columns * len(np.unique(square, axis=0))
