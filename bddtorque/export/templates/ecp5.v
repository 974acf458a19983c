// @name@_ecp5.v: @name@_multiply.v and @name@_delay.v for the Lattice ECP5; written by bddtorque.
@multiply@
    wire signed [17:0] x = $signed(left);
    wire signed [17:0] y = $signed(right);
    wire [35:0] p;
    assign out = p[X + Y - 1:0];
    MULT18X18D #(
        .REG_INPUTA_CLK("CLK0"), .REG_INPUTB_CLK("CLK0"), .REG_OUTPUT_CLK("CLK0")
    ) multiplier (
        .CLK0(clk), .CE0(1'b1), .RST0(1'b0), .SIGNEDA(1'b1), .SIGNEDB(1'b1), .SOURCEA(1'b0), .SOURCEB(1'b0),
@ports@
    );
endmodule

@delay@
    localparam [3:0] LAST = CLOCKS - 2;
    (* ram_style = "distributed" *) reg [BITS - 1:0] ring [0:15];
    reg [BITS - 1:0] last;
    reg [3:0] place = 4'd0;
    wire [3:0] next = {place[3] ^ &place[2:0], place[2] ^ &place[1:0], place[1] ^ place[0], ~place[0]}; // place + 1
    assign out = last;
    always @(posedge clk)
        if (en) begin
            last <= ring[place];
            ring[place] <= word;
            place <= next & {4{place != LAST}};
        end
endmodule
