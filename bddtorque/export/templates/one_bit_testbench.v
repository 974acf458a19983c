// @name@_tb.v: tries @name@.v on @count@ states; written by bddtorque.
module @name@_tb;
    localparam STATES = @count@;
    reg [@row_top@:0] vectors [0:STATES - 1];
    reg clk = 1'b0, rst = 1'b1, failed = 1'b0, was_busy = 1'b0, taken = 1'b0;
    reg [@wanted-1@:0] found = @wanted@'d0, expected = @wanted@'d0;
    integer sent = 0, left = @given@, received = 0, clocks = 0, total = 0, all = 0, k;
    wire in_valid = sent < STATES && !rst;
    wire [@row_top@:0] state = vectors[sent < STATES ? sent : 0];
    wire in_bit = state[left - 1];
    wire in_ready, out_valid, out_bit, busy;
    wire [@zone-1@:0] out_index;

    @name@ dut (.clk(clk), .rst(rst), .in_valid(in_valid), .in_bit(in_bit), .in_ready(in_ready),
        .out_valid(out_valid), .out_index(out_index), .out_bit(out_bit), .busy(busy));

    initial begin
        $readmemh("@name@_vectors.hex", vectors);
        while (received < STATES && !failed && all < @limit@) begin
            #5 taken = in_valid && in_ready;
            all = all + 1;
            if (all > 4 && busy) clocks = clocks + 1;
            if (out_valid) found[out_index] = out_bit;
            if (was_busy && !busy) begin
                expected = vectors[received][@clocks_low-1@:@given@];
                clocks = clocks + 2;
                if (found !== expected) begin
                    $display("state %0d: expected bits %b, got %b", received, expected, found);
                    failed = 1'b1;
                end
                if (clocks != vectors[received][@row_top@:@clocks_low@]) begin
                    $display("state %0d: expected %0d clocks, got %0d", received,
                        vectors[received][@row_top@:@clocks_low@], clocks);
                    failed = 1'b1;
                end
                total = total + clocks;
                clocks = 0;
                received = received + 1;
                found = @wanted@'d0;
            end
            was_busy = all > 4 && busy;
            clk = 1'b1;
            #5 clk = 1'b0;
            rst = all < 4;
            if (taken) begin
                left = left - 1;
                if (left == 0) begin
                    left = @given@;
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
