module @name@_multiply #(
    parameter X = @multiplier_bits@,
    parameter Y = @multiplier_bits@
) (
    input wire clk,
    input wire [X - 1:0] left,
    input wire [Y - 1:0] right,
    output wire [X + Y - 1:0] out
);