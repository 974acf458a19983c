module @name@_delay #(
    parameter BITS = 8,
    parameter CLOCKS = @max_delay@
) (
    input wire clk,
    input wire en,
    input wire [BITS - 1:0] word,
    output wire [BITS - 1:0] out
);