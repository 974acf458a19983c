module @name@ (
    input wire clk,
    input wire rst,
    input wire in_valid,
    input wire in_bit,
    output wire in_ready,
    output wire out_valid,
    output wire [@zone-1@:0] out_index,
    output wire out_bit,
    output wire busy
);
