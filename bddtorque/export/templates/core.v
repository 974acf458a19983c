// @name@.v: a processor that tests one bit, or adds one bit, per clock; written by bddtorque.
//
// A word of code holds what its step does and what the next one reads. A row of nodes holds, for a tested bit of 1 and
// then of 0: whether the walk ends, whether its result is complemented, the next node, and the bit that this one tests.
module @name@ (
    input wire clk,
    input wire go,
    output wire idle,
    input wire bank,
    input wire bus_valid,
    input wire bus_bank,
    input wire [@shared-1@:0] bus_address,
    input wire bus_bit,
    output wire send_valid,
    output wire [@shared-1@:0] send_address,
    output wire send_bit@ports@
);
    @style@reg [@code_bits-1@:0] codes [0:@words-1@];
    @style@reg [@row_bits-1@:0] nodes [0:@rows-1@];
    reg [@code_bits-1@:0] code;
    reg [@row_bits-1@:0] node;
@memory@
    initial begin : memories
        integer k;
        $readmemh("@name@_code.hex", codes);
        $readmemh("@name@_nodes.hex", nodes);
        for (k = 0; k < @size@; k = k + 1) shared[k] = @zero@;
        shared[1] = @one@;
        shared[@second@] = @one@;
    end

@flags@
    reg [@place-1@:0] place = @place@'d@words-1@;
    reg boot = 1'b1, sign = 1'b0, carry = 1'b0, condition = 1'b0;

    wire [@edge_bits-1@:0] side = one ? node[@row_bits-1@:@edge_bits@] : node[@edge_bits-1@:0];
    wire ends = side[@edge_bits-1@];
    wire flip = negates | conditional & condition;
    wire operand = another ^ flip;
    wire carried = first ? flip : carry;
    wire result = is_walk ? sign ^ side[@edge_bits-2@] :
        chooses ? (condition ? another : one) : one ^ operand ^ carried;
    wire done = @done@;
@sending@
    wire [@read-1@:0] address = @address@;
    wire [@node-1@:0] row = fire ? code[@sign@:@read+1@] : side[@sign-1@:@read@];

    always @(posedge clk) begin
        boot <= 1'b0;
        if (fire | boot) code <= codes[place];
        if (boot | is_start & ~fire) place <= @place@'d0;
        else if (fire) place <= place + @place@'d1;
        if (fire | is_walk & ~ends) begin
            node <= nodes[row];
            sign <= fire ? code[@read@] : sign ^ side[@edge_bits-2@];
        end
        if (fire) carry <= one & operand | one & carried | operand & carried;
        if (fire & conditions) condition <= result;
@reads@
    end
endmodule
