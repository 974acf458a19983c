"""PLA and BLIF: read back by the tests' own readers, and proved by ABC and Yosys against the equations of the arm."""

import shutil
import subprocess
from pathlib import Path

import logic_truth
import numpy as np
import pytest
from compiled import arm, compiled, random_words, reference
from logic_readers import bits_of, joined, simulate, words_of

import bddtorque as bt
from bddtorque import export_blif, export_pla
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.logic import Netlist, NetWord, blif_text, constant, pla_text
from bddtorque.plan.table import Table
from bddtorque.words.integer_range import Range

ABC = shutil.which("berkeley-abc") or shutil.which("abc") or shutil.which("yosys-abc")
YOSYS = shutil.which("yosys")
needs_abc = pytest.mark.skipif(ABC is None, reason="ABC is not installed here (Debian: berkeley-abc)")
needs_yosys = pytest.mark.skipif(YOSYS is None, reason="Yosys is not installed here (Debian: yosys)")
EQUIVALENCE = """
read_blif gold.blif
hierarchy -top gold
opt_clean
design -stash gold
read_blif gate.blif
hierarchy -top planar2r_words
flatten
opt_clean
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate planar2r_words
equiv_make gold gate equiv
equiv_simple -nogroup
equiv_status -assert
"""


@pytest.mark.parametrize("products", ["auto", "blocks", "partial"])
def test_every_entry_of_a_pla(products, tmp_path):
    model = arm(4, block_bits=8, products=products)
    names = export_pla(model, tmp_path / "pla")
    assert names == [f"b{k}.pla" for k in range(len(model.tables))]
    for name, table in zip(names, model.tables, strict=True):
        words = words_of((tmp_path / "pla" / name).read_text())
        assert words == [int(value) & ((1 << table.output_bits) - 1) for value in table.values]
    export_pla(model, tmp_path / "pla")  # an earlier export is replaced
    (tmp_path / "pla" / "mine.txt").write_text("mine")
    with pytest.raises(BddTorqueError, match=r"holds 'mine\.txt'"):
        export_pla(model, tmp_path / "pla")


def test_constant_tables_are_one_row_or_none():
    assert ".p 0\n" in pla_text(Table(np.zeros(8, np.int64), (3,), 2, False), "zero")
    text = pla_text(Table(np.full(8, -1), (3,), 2, True), "ones")
    assert ".p 1\n--- 11\n" in text
    assert words_of(text) == [3] * 8


@pytest.mark.parametrize(
    ("robot", "options"),
    [
        ("planar2r", {"bits": 6, "block_bits": 12}),  # squares
        ("planar2r", {"bits": 4, "block_bits": 8, "products": "blocks"}),
        ("planar2r", {"bits": 6, "block_bits": 12, "products": "partial"}),
        ("planar2r", {"bits": 5, "accuracy": "paper", "block_bits": 14}),  # blocks of two words
        ("planar2r", {"bits": 6, "block_bits": 8}),
        pytest.param("scara", {"bits": 6}, marks=pytest.mark.everything),
    ],
)
def test_the_netlist_gives_the_words_of_the_model(robot, options):
    model = compiled(robot, **options)
    states = random_words(model, 500)
    inputs = {}
    for kind, (name, words) in zip(model.formats.inputs, zip(("q", "qd", "qdd"), states, strict=True), strict=True):
        for j, word in enumerate(kind):
            inputs |= bits_of(f"{name}{j + 1}", words[:, j], word.bits)
    nets = simulate(blif_text(model), inputs)
    found = [joined(nets, f"tau{j + 1}", word.bits) for j, word in enumerate(model.formats.tau)]
    np.testing.assert_array_equal(np.stack(found, axis=1), reference(model, states))


@pytest.mark.parametrize("shift", [0, 1, 3])
def test_words_of_gates_compute_as_integers_do(shift):
    low, high = -9, 13
    values = np.arange(low, high + 1)
    net = Netlist()
    word = NetWord(net, tuple(f"x_{k}" for k in range(5)), Range(low, high))
    results = {
        "a": (word * -11 + 7, values * -11 + 7),
        "b": ((word * 328).rounded(shift), (values * 328 + (1 << shift >> 1)) >> shift),
        "c": (word.clamped(-3, 5), np.clip(values, -3, 5)),
        "d": (word.clamped(-20, 2), np.clip(values, -20, 2)),
        "e": (constant(net, 5) + -word, 5 - values),
        "f": (word * 0, values * 0),
    }
    for name, (result, _) in results.items():
        for k, bit in enumerate(result.bits):
            net.drive(f"{name}_{k}", bit)
    nets = simulate("\n".join([".model m", *net.lines]), bits_of("x", values, 5))
    for name, (result, wanted) in results.items():
        np.testing.assert_array_equal(joined(nets, name, len(result.bits)), wanted)
        assert result.range.low <= wanted.min() <= wanted.max() <= result.range.high


def paper_arm(bits: int, folder: Path) -> None:
    """Write the compiled arm and the one made from its equations."""
    export_blif(arm(4, accuracy="paper", input_bits=bits), folder / "gate.blif")
    (folder / "gold.blif").write_text(logic_truth.blif(bits))


def abc(folder: Path) -> str:
    ran = subprocess.run(
        [str(ABC), "-c", "cec gold.blif gate.blif"], cwd=folder, capture_output=True, text=True, check=False
    )
    return ran.stdout


@needs_abc
@pytest.mark.parametrize("bits", [4, pytest.param(6, marks=pytest.mark.everything)])
def test_abc_proves_the_paper_arm_equal_to_its_equations(tmp_path, bits):
    """Inputs of 6 bits are what the paper's rule asks for: W = r + m."""
    paper_arm(bits, tmp_path)
    assert "Networks are equivalent" in abc(tmp_path)


@needs_abc
def test_abc_tells_an_altered_table(tmp_path, monkeypatch):
    paper_arm(3, tmp_path)
    assert "Networks are equivalent" in abc(tmp_path)
    monkeypatch.setattr(logic_truth, "G", 9.0)
    (tmp_path / "gold.blif").write_text(logic_truth.blif(3))
    assert "Networks are NOT EQUIVALENT" in abc(tmp_path)


@needs_abc
def test_abc_reads_a_pla_as_the_table_it_is(tmp_path):
    model = arm(4, accuracy="paper", input_bits=4)
    export_pla(model, tmp_path / "pla")
    for k, diagram in enumerate(model.diagrams):
        text = blif_text(model)
        block = text[text.index(f".model b{k}\n") :]
        (tmp_path / "b.blif").write_text(block[: block.index(".end")] + ".end\n")
        # ABC names outputs of a PLA itself, so they go by their order: y_5 first there, y0 here
        pins = [f"x{i}" for i in range(diagram.input_bits)], [f"y{i}" for i in range(diagram.output_bits)]
        pla = (tmp_path / "pla" / f"b{k}.pla").read_text().splitlines()
        lines = [f".ilb {' '.join(pins[0])}" if line.startswith(".ilb") else line for line in pla]
        lines = [f".ob {' '.join(reversed(pins[1]))}" if line.startswith(".ob") else line for line in lines]
        (tmp_path / "p.pla").write_text("\n".join(lines) + "\n")
        ran = subprocess.run(
            [str(ABC), "-c", "cec p.pla b.blif"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "Networks are equivalent" in ran.stdout


@needs_yosys
@pytest.mark.parametrize("bits", [3, *(pytest.param(bits, marks=pytest.mark.everything) for bits in (4, 6))])
def test_yosys_proves_the_paper_arm_equal_to_its_equations(tmp_path, bits):
    paper_arm(bits, tmp_path)
    (tmp_path / "proof.ys").write_text(EQUIVALENCE)
    ran = subprocess.run([str(YOSYS), "-q", "proof.ys"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_functions_have_netlists_too():
    model = bt.compile_function(
        lambda x, y: x * y + 0.25, inputs={"x (m)": (4, 1.0), "y": (4, 1.0)}, output={"z": (5, 2.0)}
    )
    x, y = (words.reshape(-1) for words in np.meshgrid(np.arange(-8, 8), np.arange(-8, 8)))
    nets = simulate(blif_text(model), {**bits_of("x_m_", x, 4), **bits_of("y", y, 4)})
    np.testing.assert_array_equal(joined(nets, "z", 5), model.words(x, y))


def test_a_model_in_floats_has_no_tables_to_write(tmp_path):
    model = arm(4, target="float")
    with pytest.raises(
        BddTorqueError, match="a netlist: diagrams: 'planar2r' was compiled for a target that multiplies"
    ):
        export_blif(model, tmp_path / "arm.blif")
    with pytest.raises(BddTorqueError, match="a PLA: diagrams: 'planar2r' was compiled for a target that multiplies"):
        export_pla(model, tmp_path / "pla")
    assert not list(tmp_path.iterdir())
