"""One-bit processors in Verilog: simulated word for word and clock for clock, linted, reset, sized, refused."""

import json

import pytest
from compiled import arm
from verilog_tools import lint, needs_iverilog, needs_verilator, run, simulate

import bddtorque as bt
from bddtorque.export import one_bit_exporter
from bddtorque.export.folder import MANIFEST
from bddtorque.export.fpga_tools import DEVICES, build, missing_tools
from bddtorque.export.one_bit_exporter import one_bit_files

needs_ice40 = pytest.mark.skipif(bool(missing_tools(DEVICES["ice40"])), reason=missing_tools(DEVICES["ice40"]))
PAPER = {"bits": 4, "accuracy": "paper"}
LIMBS = {"bits": 6, "block_bits": 6}  # magnitudes, signs, and one table for many words
CLAMPED = {"bits": 4, "torque": 20.0}


def export(folder, plan, **options):
    return bt.export_one_bit(arm(workers=1, **plan), folder, name="dut", **{"vectors": 60, **options})


@needs_iverilog
@needs_verilator
@pytest.mark.parametrize(
    ("plan", "options"),
    [
        (PAPER, {}),
        pytest.param(PAPER, {"processors": 2}, marks=pytest.mark.everything),
        (PAPER, {"processors": 5, "spread": "terms"}),
        (PAPER, {"term": "C1_22"}),
        pytest.param(PAPER, {"term": "J12", "processors": 2}, marks=pytest.mark.everything),
        pytest.param(LIMBS, {"vectors": 20}, marks=pytest.mark.everything),
        (LIMBS, {"processors": 3, "vectors": 20}),
        pytest.param(CLAMPED, {}, marks=pytest.mark.everything),
        (CLAMPED, {"processors": 2}),
    ],
)
def test_words_and_clocks_are_those_of_the_counted_machine(plan, options, tmp_path):
    made = export(tmp_path / "v", plan, **options)
    counted = one_bit_files(arm(workers=1, **plan), **{"vectors": 60, **options}).counted  # words equal to the model's
    expected = f"OK: {len(counted.clocks)} states in {counted.clocks.sum()} clocks"
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1] == expected
    assert lint(tmp_path / "v", *reversed(made.sources)) == ""
    assert made.clocks == counted.clocks.mean()
    assert json.loads((tmp_path / "v" / MANIFEST).read_text())["files"].keys() == made.files.keys() - {MANIFEST}


@needs_iverilog
@pytest.mark.parametrize(
    ("file", "digit"),
    [
        ("dut_core0_nodes.hex", 0),  # whether the first walk ends at its root, or is complemented there
        ("dut_core1_code.hex", -1),  # which bit the second step reads
        ("dut_vectors.hex", 7),  # the clocks of the first state
    ],
)
def test_a_changed_bit_of_a_memory_is_noticed(file, digit, tmp_path):
    made = export(tmp_path / "v", PAPER, processors=2)
    path = tmp_path / "v" / file
    first, *others = path.read_text().splitlines()
    digits = list(first)
    digits[digit] = f"{int(digits[digit], 16) ^ 1:x}"
    path.write_text("\n".join(["".join(digits), *others]) + "\n")
    printed = simulate(tmp_path / "v", "dut_tb.v", *made.sources)
    assert printed[-1] == "FAILED: words or clocks differ"
    assert printed[0].startswith("state ")


@needs_iverilog
@pytest.mark.parametrize("processors", [1, 2])
def test_a_reset_forgets_the_state_and_nothing_else(processors, tmp_path):
    made = export(tmp_path / "v", PAPER, processors=processors)
    bench = (tmp_path / "v" / "dut_tb.v").read_text()
    again = bench.replace(
        "            if (taken) begin\n",
        "            if (all == 150) begin // in the middle of a state, and of the bits of the next\n"
        "                rst = 1'b1;\n"
        "                sent = received;\n"
        f"                left = {sum(one_bit_files(arm(workers=1, **PAPER)).machine.inputs.values())};\n"
        "                found = 0;\n"
        "            end else if (all > 150 && all < 800) begin\n"
        "                rst = 1'b1;\n"
        "                clocks = 0;\n"
        "                was_busy = 1'b0;\n"
        "            end else if (taken) begin\n",
    )
    assert again != bench
    (tmp_path / "v" / "dut_tb.v").write_text(again)
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1].startswith("OK: 60 states")


@needs_iverilog
def test_a_function_of_two_words(tmp_path):
    model = bt.compile_function(lambda x, y: x * y, inputs={"x": (3, 1.0), "if": (4, 1.0)}, output={"z": (6, 2.0)})
    made = bt.export_one_bit(model, tmp_path / "v", vectors=50)
    assert simulate(tmp_path / "v", f"{made.name}_tb.v", *made.sources)[-1].startswith("OK: 50 states")


@needs_iverilog
def test_the_makefile_simulates(tmp_path):
    export(tmp_path / "v", PAPER)
    ran = run(["make", "check"], tmp_path / "v")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].startswith("OK: 60 states")
    assert export(tmp_path / "v", PAPER).files  # build/ is in nobody's way


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        ({"bits": 6, "target": "float"}, {}, "a one-bit processor: diagrams: 'planar2r' was"),
        ({"bits": 6, "target": "integer", "chip": "fpga"}, {}, 'compile it with target = "tables"'),
        (PAPER, {"processors": 0}, "processors must be between 1 and 64, got 0"),
        (PAPER, {"processors": True}, "processors must be between 1 and 64, got True"),
        (PAPER, {"processors": 65}, "processors must be between 1 and 64, got 65"),
        (PAPER, {"spread": "states"}, "spread must be 'terms' or 'bits', got 'states'"),
        (PAPER, {"vectors": 0}, "vectors must be between 1 and 100,000, got 0"),
        (PAPER, {"term": "J99"}, "unknown term 'J99' among the"),
        (PAPER, {"fpga": "virtex"}, "fpga must be 'ice40', "),
        ({"bits": 6}, {"fpga": "ice40"}, "fpga 'ice40' has 131,072 bits of block memory, and these one-bit processors"),
    ],
)
def test_refusals(plan, options, message, tmp_path):
    with pytest.raises(bt.BddTorqueError, match=message.replace("(", r"\(")) as refused:
        export(tmp_path / "v", plan, **options)
    assert len(str(refused.value).splitlines()) == 1
    assert not (tmp_path / "v").exists()


def test_more_nodes_than_any_part_holds(monkeypatch, tmp_path):
    monkeypatch.setattr(one_bit_exporter, "MAX_NODES", 500)
    with pytest.raises(bt.BddTorqueError, match=r"at most 500 nodes, .* these diagrams have 1,[0-9]{3}: compile fewer"):
        export(tmp_path / "v", PAPER)


@pytest.mark.everything
@needs_iverilog
@pytest.mark.parametrize(
    ("plan", "options", "tests"),
    [
        ({"bits": 6, "accuracy": "paper"}, {}, 427),
        ({"bits": 6, "accuracy": "paper"}, {"processors": 8}, 427),
        ({"bits": 6, "accuracy": "paper"}, {"processors": 4, "spread": "terms"}, 427),
        ({"bits": 12}, {}, 2261),
        ({"bits": 12}, {"processors": 4, "spread": "terms"}, None),
        *(({"bits": 6, "accuracy": "paper"}, {"term": term}, None) for term in ("C1_22", "G1.1", "J22", "C2_11")),
    ],
)
def test_whole_torques_and_the_terms_of_the_paper(plan, options, tests, tmp_path):
    made = export(tmp_path / "v", plan, **options, vectors=1000)
    assert simulate(tmp_path / "v", "dut_tb.v", *made.sources)[-1].startswith("OK: 1000 states")
    if tests is not None:  # of states drawn evenly; those of the test bench have corners among them
        assert made.tests == pytest.approx(tests, rel=0.05)


@pytest.mark.everything
@needs_ice40
@pytest.mark.parametrize("options", [{}, {"term": "C2_11"}])
def test_a_core_takes_at_most_100_logic_cells_at_60_mhz(options, tmp_path):
    made = export(tmp_path / "v", PAPER if not options else {"bits": 6, "accuracy": "paper"}, **options)
    built = build(tmp_path / "v", made.sources, "dut", "ice40")
    assert built.luts <= 100
    assert built.mhz is not None
    assert built.mhz >= 60
