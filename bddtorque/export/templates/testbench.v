// @name@_tb.v: tries @name@.v on @count@ states; written by bddtorque.
module @name@_tb;
    localparam STATES = @count@;
    reg [@row_top@:0] vectors [0:STATES - 1];
    reg clk = 1'b0, rst = 1'b1, in_valid = 1'b0, taken = 1'b0, failed = 1'b0;
    reg [@given-1@:0] state = @given@'d0;
    integer sent = 0, received = 0, clocks = 0;
    wire in_ready, out_valid;
@declared@
    assign @taken@ = state;

    @name@ dut (.clk(clk), .rst(rst), .in_valid(in_valid), .in_ready(in_ready), .out_valid(out_valid),
        @connected@);

    initial begin
        $readmemh("@name@_vectors.hex", vectors);
        while (received < STATES && !failed && clocks < 100 * STATES + 10000) begin
            #5 taken = in_valid && in_ready;
            clk = 1'b1;
            #5 clk = 1'b0;
            clocks = clocks + 1;
            if (out_valid) begin
                if (@found@ !== vectors[received][@wanted-1@:0]) begin
@checks@
                    failed = 1'b1;
                end
                received = received + 1;
            end
            rst = clocks < 4;
            if (clocks >= 8 && (taken || !in_valid)) begin
                in_valid = sent < STATES && clocks % @gap@ != 0;
                if (in_valid) begin
                    state = vectors[sent][@row_top@:@wanted@];
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
