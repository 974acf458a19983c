"""Modules that a circuit is made of: a multiplier, and a line that delays a word.

Each is written twice. `NAME_multiply.v` and `NAME_delay.v` are plain registers, which any tool takes: on the 7 series
they become registers of multipliers and shift registers in look-up tables. `NAME_ecp5.v` has modules of the same names
and meaning for the ECP5, where Yosys packs no registers into multipliers and knows no shift registers: the registers
are those of the multiplier, and a line is a ring in distributed memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

MULTIPLIER_BITS = 18
"""Of the signed words that one multiplier takes: on the ECP5 18 by 18, on the 7 series 18 by 25."""
MULTIPLIER_CLOCKS = 2
"""Registers before and behind a multiplier."""
MAX_DELAY = 17
"""Clocks of one line: 16 words of memory, and the register behind it."""
MEMORY_BITS = 4
"""Of a word of the smallest distributed memory, which takes 6 look-up tables: 4, and 2 for its inputs."""
COUNTER_BITS = 4


def is_long(bits: int, clocks: int) -> bool:
    """Whether a word should wait in a line: whether memory saves three registers per look-up table it takes."""
    saved = bits * (clocks - 1) - COUNTER_BITS
    taken = 6 * -(-bits // MEMORY_BITS) + COUNTER_BITS
    return saved >= 3 * taken


def pieces(clocks: int) -> list[int]:
    """Return a delay as those of lines one after the other, of about the same length."""
    count = -(-clocks // MAX_DELAY)
    return [clocks // count + (k < clocks % count) for k in range(count)]


def multiply_text(name: str) -> str:
    """Return the multiplier in plain Verilog."""
    return f"""\
// {name}_multiply.v: a product of two signed words, {MULTIPLIER_CLOCKS} clocks later; written by bddtorque.
{_multiply_head(name)}
    reg [X - 1:0] x;
    reg [Y - 1:0] y;
    reg [X + Y - 1:0] p;
    wire [X + Y - 1:0] wide_x = {{{{Y{{x[X - 1]}}}}, x}};
    wire [X + Y - 1:0] wide_y = {{{{X{{y[Y - 1]}}}}, y}};
    assign out = p;
    always @(posedge clk) begin
        x <= left;
        y <= right;
        p <= $signed(wide_x) * $signed(wide_y);
    end
endmodule
"""


def delay_text(name: str) -> str:
    """Return the delay line in plain Verilog."""
    return f"""\
// {name}_delay.v: a word so many clocks later, counting clocks where en is 1; written by bddtorque.
{_delay_head(name)}
    reg [BITS * CLOCKS - 1:0] line;
    assign out = line[BITS * CLOCKS - 1:BITS * (CLOCKS - 1)];
    always @(posedge clk)
        if (en) line <= {{line[BITS * (CLOCKS - 1) - 1:0], word}};
endmodule
"""


def ecp5_text(name: str) -> str:
    """Return both modules for the ECP5."""
    ports = ",\n".join(
        f"        {', '.join(f'.{port}{k}({signal}[{k}])' for k in range(start, start + 9))}"
        for port, signal, bits in (("A", "x", 18), ("B", "y", 18), ("P", "p", 36))
        for start in range(0, bits, 9)
    )
    return f"""\
// {name}_ecp5.v: {name}_multiply.v and {name}_delay.v for the Lattice ECP5; written by bddtorque.
{_multiply_head(name)}
    wire signed [17:0] x = $signed(left);
    wire signed [17:0] y = $signed(right);
    wire [35:0] p;
    assign out = p[X + Y - 1:0];
    MULT18X18D #(
        .REG_INPUTA_CLK("CLK0"), .REG_INPUTB_CLK("CLK0"), .REG_OUTPUT_CLK("CLK0")
    ) multiplier (
        .CLK0(clk), .CE0(1'b1), .RST0(1'b0), .SIGNEDA(1'b1), .SIGNEDB(1'b1), .SOURCEA(1'b0), .SOURCEB(1'b0),
{ports}
    );
endmodule

{_delay_head(name)}
    localparam [3:0] LAST = CLOCKS - 2;
    (* ram_style = "distributed" *) reg [BITS - 1:0] ring [0:15];
    reg [BITS - 1:0] last;
    reg [3:0] place = 4'd0;
    wire [3:0] next = {{place[3] ^ &place[2:0], place[2] ^ &place[1:0], place[1] ^ place[0], ~place[0]}}; // place + 1
    assign out = last;
    always @(posedge clk)
        if (en) begin
            last <= ring[place];
            ring[place] <= word;
            place <= next & {{4{{place != LAST}}}};
        end
endmodule
"""


def _multiply_head(name: str) -> str:
    return f"""\
module {name}_multiply #(
    parameter X = {MULTIPLIER_BITS},
    parameter Y = {MULTIPLIER_BITS}
) (
    input wire clk,
    input wire [X - 1:0] left,
    input wire [Y - 1:0] right,
    output wire [X + Y - 1:0] out
);"""


def _delay_head(name: str) -> str:
    return f"""\
module {name}_delay #(
    parameter BITS = 8,
    parameter CLOCKS = {MAX_DELAY}
) (
    input wire clk,
    input wire en,
    input wire [BITS - 1:0] word,
    output wire [BITS - 1:0] out
);"""


CELLS: Mapping[str, Callable[[str], str]] = MappingProxyType({"multiply": multiply_text, "delay": delay_text})
"""The plain modules: what is written into `NAME_multiply.v` and `NAME_delay.v`."""
