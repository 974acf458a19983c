"""The test bench of an exported module: states in, words out, compared with those that the plain interpreter gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bddtorque.export.c_signature import CSignature
from bddtorque.export.selftest import make_vectors
from bddtorque.export.verilog_text import Ports
from bddtorque.model.model import Model

Words = npt.NDArray[np.int64]
GAP = 7
"""One of so many clocks has no state, so that a wrong `valid` is found."""


def vectors_text(model: Model, signature: CSignature, ports: Ports, count: int) -> str:
    """Return states and the words that they give as `$readmemh` reads them: the first port most significant."""
    vectors, _ = make_vectors(model, signature, count)
    held = [
        word.held(vectors[array][:, place])
        for array, formats in signature.arrays.items()
        for place, word in enumerate(formats)
    ]
    columns = [*held, *vectors[signature.result].T]
    widths = [*ports.inputs.values(), *ports.outputs.values()]
    digits = -(-sum(widths) // 4)
    lines = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        packed = 0
        for word, bits in zip(row, widths, strict=True):
            packed = packed << bits | word & ((1 << bits) - 1)
        lines.append(f"{packed:0{digits}x}")
    return "\n".join(lines) + "\n"


def testbench_text(name: str, ports: Ports, count: int) -> str:
    """Return a module that feeds all states, one after the other, and ends with OK or with what differs first."""
    given, wanted = ports.input_bits, ports.output_bits
    lines = [
        f"    wire signed [{bits - 1}:0] {port};" for port, bits in (*ports.inputs.items(), *ports.outputs.items())
    ]
    taken = f"{{{', '.join(ports.inputs)}}}"
    found = f"{{{', '.join(ports.outputs)}}}"
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    outputs = list(ports.outputs.items())
    below = [sum(bits for _, bits in outputs[k + 1 :]) for k in range(len(outputs))]
    checks = "\n".join(
        f"                if ({port} !== vectors[received][{low + bits - 1}:{low}])\n"
        f'                    $display("state %0d, {port}: expected word %0d, got %0d", received,\n'
        f"                        $signed(vectors[received][{low + bits - 1}:{low}]), {port});"
        for (port, bits), low in zip(outputs, below, strict=True)
    )
    declared = "\n".join(lines)
    return f"""\
// {name}_tb.v: tries {name}.v on {count} states; written by bddtorque.
module {name}_tb;
    localparam STATES = {count};
    reg [{given + wanted - 1}:0] vectors [0:STATES - 1];
    reg clk = 1'b0, rst = 1'b1, in_valid = 1'b0, taken = 1'b0, failed = 1'b0;
    reg [{given - 1}:0] state = {given}'d0;
    integer sent = 0, received = 0, clocks = 0;
    wire in_ready, out_valid;
{declared}
    assign {taken} = state;

    {name} dut (.clk(clk), .rst(rst), .in_valid(in_valid), .in_ready(in_ready), .out_valid(out_valid),
        {connected});

    initial begin
        $readmemh("{name}_vectors.hex", vectors);
        while (received < STATES && !failed && clocks < 100 * STATES + 10000) begin
            #5 taken = in_valid && in_ready;
            clk = 1'b1;
            #5 clk = 1'b0;
            clocks = clocks + 1;
            if (out_valid) begin
                if ({found} !== vectors[received][{wanted - 1}:0]) begin
{checks}
                    failed = 1'b1;
                end
                received = received + 1;
            end
            rst = clocks < 4;
            if (clocks >= 8 && (taken || !in_valid)) begin
                in_valid = sent < STATES && clocks % {GAP} != 0;
                if (in_valid) begin
                    state = vectors[sent][{given + wanted - 1}:{wanted}];
                    sent = sent + 1;
                end
            end
        end
        if (failed) $display("FAILED: words differ");
        else if (received < STATES) $display("FAILED: %0d states of %0d came out", received, STATES);
        else $display("OK: %0d states", received);
        $finish;
    end
endmodule
"""
