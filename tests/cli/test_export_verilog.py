"""``bddtorque export --verilog`` and ``bench --fpga``: what they write and say, and what they refuse."""

import json

import pytest
from compiled import arm

from bddtorque.bench import fpga_bench
from bddtorque.export import fpga_tools


@pytest.fixture
def model(tmp_path):
    arm(6, target="integer", chip="fpga").save(tmp_path / "arm.bdt")
    return str(tmp_path / "arm.bdt")


def test_a_circuit_is_written(run, model, tmp_path):
    ran = run("export", model, "--verilog", tmp_path / "v", "--share", "2", "--vectors", "7")
    assert (ran.code, ran.err) == (0, "")
    assert "a state every 3 clocks" in ran.out
    assert len((tmp_path / "v" / "planar2r_vectors.hex").read_text().split()) == 7
    assert (tmp_path / "v" / "planar2r.v").exists()
    ran = run("export", model, "--verilog", tmp_path / "v", "--dsp", "no", "--name", "arm", "--json")
    written = json.loads(ran.out)["verilog"]
    assert (written["interval"], written["multipliers"], written["sources"]) == (1, 0, ["arm.v"])
    assert not (tmp_path / "v" / "planar2r.v").exists()  # the earlier export is replaced


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--c", "c", "--share", "2"], "--share can only be given with --verilog DIR"),
        (["--verilog", "v", "--dsp", "maybe"], "--dsp must be yes or no, got 'maybe'"),
        (["--verilog", "v", "--bitstream", "virtex"], "fpga must be 'ice40', "),
        (["--verilog", "v", "--bitstream", "xc7"], "fpga 'xc7' has no free tool for a bit stream"),
        (["--verilog", "v", "--share", "0"], "share must be a number of multipliers, at least 1, got 0"),
        (["--verilog", "v", "--processors", "2"], "--processors can only be given with --verilog DIR --one-bit"),
        (["--c", "c", "--one-bit"], "--one-bit can only be given with --verilog DIR"),
        (["--verilog", "v", "--one-bit", "--share", "2"], "--share can only be given with --verilog DIR"),
        (
            ["--verilog", "v", "--one-bit"],
            "a one-bit processor: diagrams: 'planar2r' was compiled for a target that multiplies",
        ),
        (["--verilog", "v", "--term", "J12"], "--term can only be given with --c DIR or --verilog DIR --one-bit"),
        (["--c", "v", "--verilog", "v"], "--c and --verilog both name v"),
        (["--c", "v", "--pla", "./v"], "--c and --pla both name v"),
    ],
)
def test_what_is_refused(run, model, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    ran = run("export", model, *options)
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (tmp_path / "v").exists()


def test_one_bit_processors_are_written(run, tmp_path):
    arm(4, workers=1, accuracy="paper").save(tmp_path / "paper.bdt")
    ran = run("export", tmp_path / "paper.bdt", "--verilog", tmp_path / "v", "--one-bit", "--processors", "2")
    assert (ran.code, ran.err) == (0, "")
    assert "2, bits spread" in ran.out
    assert (tmp_path / "v" / "planar2r_core1_nodes.hex").exists()
    asked = ("--one-bit", "--term", "C1_22", "--spread", "terms", "--json")
    written = json.loads(run("export", tmp_path / "paper.bdt", "--verilog", tmp_path / "v", *asked).out)["verilog"]
    assert (written["name"], written["processors"], written["spread"]) == ("planar2r_c1_22", 1, "terms")
    assert not (tmp_path / "v" / "planar2r_core1_nodes.hex").exists()


def test_missing_tools_are_named_before_anything_is_written(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr(fpga_tools, "find_tool", lambda name: None if name == "icepack" else [name])
    ran = run("export", model, "--verilog", tmp_path / "v", "--bitstream", "ice40")
    assert ran.code == 2
    assert "fpga 'ice40' needs icepack, not installed: pip install 'bddtorque[fpga]'" in ran.err
    assert not (tmp_path / "v").exists()


def test_bench_prints_figures_of_fpgas(run, tmp_path, monkeypatch):
    arm(6, target="integer", chip="fpga").save(tmp_path / "arm.bdt")
    monkeypatch.setattr(fpga_tools, "find_tool", lambda name: [name])
    cells = {"LUT4": 7, "FDRE": 3, "DSP48E1": 6, "RAMB18E1": 3}
    monkeypatch.setattr(fpga_bench, "build", lambda *_, **__: fpga_tools.Built(fpga_tools.DEVICES["xc7"], cells, {}))
    ran = run("bench", tmp_path / "arm.bdt", "--fpga", "xc7", "--json")
    assert (ran.code, ran.err) == (0, "")
    figures = json.loads(ran.out)["figures"]
    assert [each["way"] for each in figures] == ["bddtorque", "straightforward"]
    assert (figures[0]["memories"], figures[0]["multipliers"], figures[0]["mhz"]) == (1.5, 6, None)
    assert "straightforward" in run("bench", tmp_path / "arm.bdt", "--fpga", "xc7").out
    ran = run("bench", tmp_path / "arm.bdt", "--share", "2")
    assert (ran.code, "--share can only be given with --fpga NAMES" in ran.err) == (2, True)
