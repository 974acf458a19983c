"""The test bench of one-bit cores: states in bit by bit, words and counted clocks compared."""

from __future__ import annotations

import numpy as np

from bddtorque.export.one_bit_clocks import Counted, Integers
from bddtorque.export.one_bit_program import OneBitMachine

CLOCK_BITS = 32


def vectors_text(machine: OneBitMachine, states: Integers, counted: Counted) -> str:
    """Return clocks, expected words and states as `$readmemh` reads them.

    The first output is least significant; the first bit of a state that goes in is its most significant.
    """
    digits = -(-(CLOCK_BITS + machine.output_bits + machine.input_bits) // 4)
    lines = []
    for clocks, words, state in zip(counted.clocks.tolist(), counted.words.tolist(), states.tolist(), strict=True):
        packed = clocks
        for word, bits in reversed([*zip(words, machine.outputs.values(), strict=True)]):
            packed = packed << bits | word & ((1 << bits) - 1)
        for word, bits in zip(state, machine.inputs.values(), strict=True):
            packed = packed << bits | word & ((1 << bits) - 1)
        lines.append(f"{packed:0{digits}x}")
    return "\n".join(lines) + "\n"


def testbench_text(name: str, machine: OneBitMachine, counted: Counted) -> str:
    """Return a module that feeds all states and ends with OK, or with what differs first."""
    given, wanted = machine.input_bits, machine.output_bits
    zone = max((wanted - 1).bit_length(), 1)
    count = len(counted.clocks)
    limit = int(np.sum(counted.clocks)) + count * (8 * given + 100) + 1000
    return f"""\
// {name}_tb.v: tries {name}.v on {count} states; written by bddtorque.
module {name}_tb;
    localparam STATES = {count};
    reg [{CLOCK_BITS + wanted + given - 1}:0] vectors [0:STATES - 1];
    reg clk = 1'b0, rst = 1'b1, failed = 1'b0, was_busy = 1'b0, taken = 1'b0;
    reg [{wanted - 1}:0] found = {wanted}'d0, expected = {wanted}'d0;
    integer sent = 0, left = {given}, received = 0, clocks = 0, total = 0, all = 0, k;
    wire in_valid = sent < STATES && !rst;
    wire [{CLOCK_BITS + wanted + given - 1}:0] state = vectors[sent < STATES ? sent : 0];
    wire in_bit = state[left - 1];
    wire in_ready, out_valid, out_bit, busy;
    wire [{zone - 1}:0] out_index;

    {name} dut (.clk(clk), .rst(rst), .in_valid(in_valid), .in_bit(in_bit), .in_ready(in_ready),
        .out_valid(out_valid), .out_index(out_index), .out_bit(out_bit), .busy(busy));

    initial begin
        $readmemh("{name}_vectors.hex", vectors);
        while (received < STATES && !failed && all < {limit}) begin
            #5 taken = in_valid && in_ready;
            all = all + 1;
            if (all > 4 && busy) clocks = clocks + 1;
            if (out_valid) found[out_index] = out_bit;
            if (was_busy && !busy) begin
                expected = vectors[received][{wanted + given - 1}:{given}];
                clocks = clocks + 2;
                if (found !== expected) begin
                    $display("state %0d: expected bits %b, got %b", received, expected, found);
                    failed = 1'b1;
                end
                if (clocks != vectors[received][{CLOCK_BITS + wanted + given - 1}:{wanted + given}]) begin
                    $display("state %0d: expected %0d clocks, got %0d", received,
                        vectors[received][{CLOCK_BITS + wanted + given - 1}:{wanted + given}], clocks);
                    failed = 1'b1;
                end
                total = total + clocks;
                clocks = 0;
                received = received + 1;
                found = {wanted}'d0;
            end
            was_busy = all > 4 && busy;
            clk = 1'b1;
            #5 clk = 1'b0;
            rst = all < 4;
            if (taken) begin
                left = left - 1;
                if (left == 0) begin
                    left = {given};
                    sent = sent + 1;
                end
            end
        end
        if (failed) $display("FAILED: words or clocks differ");
        else if (received < STATES) $display("FAILED: %0d states of %0d came out", received, STATES);
        else $display("OK: %0d states in %0d clocks", received, total);
        $finish;
    end
endmodule
"""
