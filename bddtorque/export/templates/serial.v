// @name@_serial.v: @name@.v behind seven pins; written by bddtorque.
//
// While shift is 1, a bit of the next state comes in at sin in every clock, and a bit of the last words goes out at
// sout: the first port of @name@.v first, the most significant bit of each word first. @given@ bits in, @wanted@ out.
// go, for one clock, starts a state; done is 1 from when its words are there until the next go.
module @name@_serial (
    input wire clk,
    input wire rst,
    input wire shift,
    input wire sin,
    input wire go,
    output wire sout,
    output reg done
);
    reg [@given-1@:0] state;
    reg [@wanted-1@:0] words;
    reg waiting;
    wire in_ready, out_valid;
@wires@
    assign {@inputs@} = state;
    assign sout = words[@wanted-1@];

    @name@ core (.clk(clk), .rst(rst), .in_valid(waiting), .in_ready(in_ready), .out_valid(out_valid),
        @connected@);

    always @(posedge clk) begin
        if (shift) state <= {state[@given-2@:0], sin};
        if (out_valid) words <= {@outputs@};
        else if (shift) words <= {words[@wanted-2@:0], 1'b0};
        if (rst) waiting <= 1'b0;
        else if (go) waiting <= 1'b1;
        else if (in_ready) waiting <= 1'b0;
        if (rst || go) done <= 1'b0;
        else if (out_valid) done <= 1'b1;
    end
endmodule
