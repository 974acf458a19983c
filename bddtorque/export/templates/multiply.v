// @name@_multiply.v: a product of two signed words, @multiplier_clocks@ clocks later; written by bddtorque.
@multiply@
    reg [X - 1:0] x;
    reg [Y - 1:0] y;
    reg [X + Y - 1:0] p;
    wire [X + Y - 1:0] wide_x = {{Y{x[X - 1]}}, x};
    wire [X + Y - 1:0] wide_y = {{X{y[Y - 1]}}, y};
    assign out = p;
    always @(posedge clk) begin
        x <= left;
        y <= right;
        p <= $signed(wide_x) * $signed(wide_y);
    end
endmodule
