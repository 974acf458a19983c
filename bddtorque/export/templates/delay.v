// @name@_delay.v: a word so many clocks later, counting clocks where en is 1; written by bddtorque.
@delay@
    reg [BITS * CLOCKS - 1:0] line;
    assign out = line[BITS * CLOCKS - 1:BITS * (CLOCKS - 1)];
    always @(posedge clk)
        if (en) line <= {line[BITS * (CLOCKS - 1) - 1:0], word};
endmodule
