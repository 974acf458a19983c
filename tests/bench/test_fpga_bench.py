"""`bench --fpga`: figures of synthesis and routing, their bars, and what is said of tools that are missing."""

import pytest
from compiled import arm, compiled
from verilog_tools import needs_iverilog, simulate

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.bench import fpga_bench
from bddtorque.bench.fpga_bench import bench_fpga, straightforward_model
from bddtorque.export import fpga_tools
from bddtorque.export.folder import write_folder
from bddtorque.export.fpga_tools import DEVICES, build, find_tool, missing_tools
from bddtorque.export.verilog_exporter import verilog_files

INTEGER = {"target": "integer", "chip": "fpga"}
needs_ice40 = pytest.mark.skipif(
    bool(missing_tools(DEVICES["ice40"], True)), reason=missing_tools(DEVICES["ice40"], True)
)
needs_ecp5 = pytest.mark.skipif(bool(missing_tools(DEVICES["ecp5"], True)), reason=missing_tools(DEVICES["ecp5"], True))
needs_xc7 = pytest.mark.skipif(bool(missing_tools(DEVICES["xc7"])), reason=missing_tools(DEVICES["xc7"]))


@needs_ice40
@pytest.mark.slow
def test_a_small_function_becomes_a_bit_stream(tmp_path):
    model = bt.compile_function(lambda x: x * x, inputs={"x": (4, 1.0)}, output={"y": (5, 2.0)})
    made = bt.export_verilog(model, tmp_path / "v", name="dut", vectors=4)
    built = build(tmp_path / "v", [*made.sources, "dut_serial.v"], "dut_serial", "ice40", bitstream=True)
    assert built.bitstream is not None
    assert built.bitstream.stat().st_size > 100_000
    assert 0 < built.luts < 100
    assert built.mhz is not None
    assert built.mhz > 50
    assert bt.export_verilog(model, tmp_path / "v", name="dut", vectors=4).files  # build/ is in nobody's way


@needs_ecp5
@pytest.mark.everything
def test_multiplier_blocks_and_the_clock_of_a_small_ecp5(tmp_path):
    """The clock takes a pin of the board; products keep their registers in the multiplier block."""
    made = bt.export_verilog(arm(6, **INTEGER), tmp_path / "v", name="dut", share=2, vectors=4)
    sources = [*made.sources_for("ecp5"), "dut_serial.v"]
    built = build(tmp_path / "v", sources, "dut_serial", "ecp5-25", bitstream=True)
    assert built.multipliers == 2
    assert "G2" in (tmp_path / "v" / "build" / "dut_serial_ecp5-25.lpf").read_text()
    assert built.bitstream is not None


@pytest.mark.everything
@needs_ice40
@needs_ecp5
@pytest.mark.parametrize(
    ("bits", "fpga", "most_luts", "least_mhz", "most_multipliers"),
    [(12, "ice40", 5300, 100, 0), (8, "ice40", 3000, 120, 0), (12, "ecp5", 1400, 140, 6)],
)
def test_sizes_and_frequencies(bits, fpga, most_luts, least_mhz, most_multipliers):
    (found,) = bench_fpga(arm(bits, **INTEGER), [fpga], straightforward=False)
    assert found.problem == ""
    assert found.luts <= most_luts
    assert found.multipliers <= most_multipliers
    assert found.mhz >= least_mhz


@pytest.mark.everything
@pytest.mark.timeout(7200)
@needs_ecp5
def test_six_joints_run_at_one_state_per_clock(tmp_path):
    made = bt.export_verilog(compiled("ur5", bits=8, **INTEGER), tmp_path / "v", name="arm", vectors=1)
    built = build(tmp_path / "v", made.sources_for("ecp5"), "arm", "ecp5", seed=1)
    assert made.interval == 1
    assert built.multipliers <= 102
    assert built.flip_flops <= 14_000
    assert built.mhz is not None
    assert built.mhz >= 90


@pytest.mark.everything
@pytest.mark.timeout(7200)
@needs_ecp5
def test_six_joints_at_12_bits_are_routed_on_a_small_ecp5(tmp_path):
    """An ECP5-25 has 28 multipliers, 24,288 look-up tables and as many flip-flops."""
    made = bt.export_verilog(compiled("ur5", bits=12, **INTEGER), tmp_path / "v", name="arm", share=10, vectors=1)
    assert made.interval == 11
    sources = [*made.sources_for("ecp5"), "arm_serial.v"]
    built = build(tmp_path / "v", sources, "arm_serial", "ecp5-25", mhz=80, seed=1)
    assert built.multipliers == 10
    assert built.luts <= 17_000
    assert built.flip_flops <= 15_500
    assert built.mhz is not None
    assert built.mhz >= 70


@pytest.mark.everything
@needs_xc7
def test_synthesis_for_the_7_series_counts_dsp_and_no_frequency():
    own, plain = bench_fpga(arm(8, **INTEGER), ["xc7"])
    assert (own.problem, own.mhz, own.multipliers) == ("", None, 6)
    assert (own.way, plain.way) == ("bddtorque", "straightforward")
    assert own.luts < plain.luts or own.multipliers < plain.multipliers


def test_missing_tools_are_named(monkeypatch):
    monkeypatch.setattr(fpga_tools, "find_tool", lambda name: None)
    with pytest.raises(BddTorqueError, match="fpga 'ice40' needs yosys, nextpnr-ice40, not installed: pip install"):
        list(bench_fpga(arm(6, **INTEGER), ["ice40"]))
    with pytest.raises(BddTorqueError, match="fpga must be 'ice40'"):
        list(bench_fpga(arm(6, **INTEGER), ["stratix"]))


def test_one_missing_tool_does_not_cost_the_others(monkeypatch):
    monkeypatch.setattr(fpga_tools, "find_tool", lambda name: None if name == "nextpnr-ice40" else [name])
    monkeypatch.setattr(
        fpga_bench, "build", lambda *_, **__: fpga_tools.Built(DEVICES["xc7"], {"LUT4": 7, "FDRE": 3}, {})
    )
    first, second = bench_fpga(arm(6, **INTEGER), ["ice40", "xc7"], straightforward=False)
    assert "nextpnr-ice40" in first.problem
    assert (second.luts, second.flip_flops, second.problem) == (7, 3, "")


def test_what_a_tool_says_is_the_problem(monkeypatch):
    if find_tool("yosys") is None:
        pytest.skip("Yosys is not installed here (Debian: yosys)")
    made = verilog_files(arm(6, **INTEGER), name="arm", vectors=1)
    made.files["arm.v"] = "module arm(; endmodule\n"
    found = fpga_bench._measured(arm(6, **INTEGER), made, DEVICES["xc7"], "bddtorque", 1)
    assert "fpga 'xc7', yosys: " in found.problem
    assert "ERROR" in found.problem


@needs_iverilog
def test_the_straightforward_circuit_is_right(tmp_path):
    model = arm(8, **INTEGER)
    plain = straightforward_model(model)
    assert max(plain.certificate.bounds) < 1
    own, other = verilog_files(model, vectors=1), verilog_files(plain, name="dut", vectors=200, plain=True)
    assert (other.facts.multipliers, other.facts.interval) == (own.facts.multipliers, 1)
    write_folder(tmp_path, other.files)
    assert simulate(tmp_path, "dut_tb.v", *other.facts.sources)[-1] == "OK: 200 states"
