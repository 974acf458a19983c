"""Exported Verilog proved equal to the BLIF export by Yosys and ABC, for every state.

A pipeline without feedback computes what it would compute if its registers were wires; that it delays every word alike
is what simulation shows. So registers become wires, ROMs become gates, and ABC compares the two networks.
"""

import shutil
import subprocess

import pytest
from compiled import arm
from verilog_tools import needs_yosys, run

import bddtorque as bt

ABC = shutil.which("berkeley-abc") or shutil.which("abc") or shutil.which("yosys-abc")
needs_abc = pytest.mark.skipif(ABC is None, reason="ABC is not installed here (Debian: berkeley-abc)")
WIRES = """\
(* techmap_celltype = "$dff" *)
module wires (CLK, D, Q);
    parameter WIDTH = 0, CLK_POLARITY = 1;
    input CLK;
    input [WIDTH-1:0] D;
    output [WIDTH-1:0] Q;
    assign Q = D;
endmodule
"""
TO_BLIF = """
read_verilog {sources} top.v
hierarchy -top top
proc
flatten
opt_expr
opt_clean
techmap -map wires.v
opt_clean
memory -nomap
memory_map
opt_expr
techmap
opt_clean
write_blif gate.blif
"""


def top_text(model: bt.Model) -> str:
    """Return a module with ports of one bit each, as the BLIF export has them."""
    words = {
        **{name: word.bits for name, word in model.formats.words.items()},
        **{f"tau{k}": word.bits for k, word in enumerate(model.formats.tau, 1)},
    }
    ports = [
        f"{'output' if name.startswith('tau') else 'input'} {name}_{k}"
        for name, bits in words.items()
        for k in range(bits)
    ]
    joined = ", ".join(
        f".{name}({{{', '.join(f'{name}_{k}' for k in reversed(range(bits)))}}})" for name, bits in words.items()
    )
    return (
        f"module top({', '.join(ports)});\n"
        f"  dut dut(.clk(1'b0), .rst(1'b0), .in_valid(1'b0), .in_ready(), .out_valid(), {joined});\nendmodule\n"
    )


def equal(model: bt.Model, folder, **options) -> str:
    made = bt.export_verilog(model, folder / "v", name="dut", vectors=1, **options)
    bt.export_blif(model, folder / "v" / "gold.blif")
    (folder / "v" / "wires.v").write_text(WIRES)
    (folder / "v" / "top.v").write_text(top_text(model))
    (folder / "v" / "proof.ys").write_text(TO_BLIF.format(sources=" ".join(made.sources)))
    ran = run(["yosys", "-q", "proof.ys"], folder / "v")
    assert ran.returncode == 0, ran.stderr
    command = [str(ABC), "-c", "cec gold.blif gate.blif"]
    return subprocess.run(command, cwd=folder / "v", capture_output=True, text=True, check=False).stdout


@needs_yosys
@needs_abc
@pytest.mark.parametrize(
    ("plan", "options", "bits"),
    [
        ({}, {}, 3),
        pytest.param({}, {}, 4, marks=pytest.mark.everything),
        pytest.param({"products": "squares", "block_bits": 8}, {"dsp": False}, 4, marks=pytest.mark.everything),
        pytest.param({"products": "squares", "block_bits": 8}, {}, 4, marks=pytest.mark.everything),
        pytest.param({"products": "squares", "block_bits": 8}, {"dsp": True}, 4, marks=pytest.mark.everything),
        pytest.param({}, {"bits_network": True}, 4, marks=pytest.mark.everything),
    ],
)
def test_abc_proves_the_circuit_equal_to_the_netlist(plan, options, bits, tmp_path):
    assert "Networks are equivalent" in equal(arm(bits, **plan), tmp_path, **options)


@needs_yosys
@needs_abc
def test_abc_tells_a_wrong_constant(tmp_path, monkeypatch):
    from bddtorque.export import verilog_datapath

    right = verilog_datapath.sum_stage

    def wrong(circuit, terms, constant, *more, **options):
        return right(circuit, terms, constant + 1, *more, **options)

    monkeypatch.setattr(verilog_datapath, "sum_stage", wrong)
    assert "Networks are NOT EQUIVALENT" in equal(arm(3), tmp_path)
