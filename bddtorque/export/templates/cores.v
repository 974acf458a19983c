    reg [@load-1@:0] count = @load@'d@input_start@;
    reg go = 1'b0, bank = 1'b1, forget = 1'b1@tags@;
    wire [@cores-1@:0] idle, send, bits;
@declared@
@grants@    wire core_valid = |send;
    wire [@shared-1@:0] core_address = @chosen@;
    wire core_bit = @bit@;
    wire loaded = count[@load-1@];
    wire taken = in_valid & in_ready;
    wire bus_valid = core_valid | taken;
    wire [@shared-1@:0] bus_address = core_valid ? core_address : @padding@;
    wire bus_bit = core_valid ? core_bit : in_bit;
    wire begins = &idle & loaded & ~go & ~rst;

    assign busy = ~&idle;
    assign in_ready = ~loaded & ~core_valid;
    assign out_valid = core_valid & (&core_address[@shared-1@:@zone@]) & ~forget;
    assign out_index = core_address[@zone-1@:0];
    assign out_bit = core_bit;

@instances@

    always @(posedge clk) begin
        go <= begins;
        if (begins) bank <= ~bank;
@turn@
        if (rst | begins) count <= @load@'d@input_start@;
        else if (taken) count <= count + @load@'d1;
        if (rst) forget <= 1'b1;
        else if (begins) forget <= 1'b0;
    end
endmodule
