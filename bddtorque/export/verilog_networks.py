"""The diagram of a block as a network of multiplexers: one per node, with registers every few levels.

It is what a diagram is in gates. A ROM of the same table takes block memory instead and one clock or two; which of the
two is smaller is for the user to see (`bddtorque bench --fpga`), and mostly it is the ROM.
"""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram

LEVELS = 4
"""Levels of multiplexers between two registers."""
MAX_NODES = 20_000
"""Of a diagram that is written as a network: more take a synthesiser hours."""


def network_clocks(diagram: Diagram) -> int:
    """Return the clocks that a network takes, the register behind it included."""
    return max(-(-len(diagram.order) // LEVELS), 1)


def check_network(block: int, diagram: Diagram) -> None:
    """Refuse a diagram that is too large."""
    nodes = len(diagram.level) - 1
    if nodes > MAX_NODES:
        raise BddTorqueError(
            f"block {block} has {nodes:,} nodes, and a network of multiplexers may have {MAX_NODES:,}: "
            "use ROMs (without --bits-network), fewer bits or smaller --block-bits"
        )


def network_text(name: str, diagram: Diagram) -> str:
    """Return a module: index x in, most significant bit first in the diagram's order, word y out.

    Clocks are counted from the terminals up, as values flow. A node at level L is computed in clock (depth − 1 − L) //
    LEVELS; what an earlier clock computed, and the bits of x that later clocks test, go through registers.
    """
    bits, depth = diagram.input_bits, len(diagram.order)
    lines = [
        f"module {name} (input wire clk, input wire [{bits - 1}:0] x, output wire [{diagram.output_bits - 1}:0] y);"
    ]
    last = network_clocks(diagram) - 1
    delayed: list[str] = []
    declared: list[str] = []
    copies: dict[tuple[str, int], str] = {}

    def at(signal: str, made: int, clock: int) -> str:
        """Return a signal that a clock made, as another clock reads it."""
        for k in range(made, clock):
            key = (signal, k + 1)
            if key not in copies:
                copies[key] = f"{signal}_{k + 1}"
                declared.append(f"    reg {copies[key]};")
                delayed.append(f"        {copies[key]} <= {copies.get((signal, k), signal)};")
        return copies[signal, clock] if clock > made else signal

    inputs = {variable: f"x{variable}" for variable in diagram.order}
    used = sorted({int(level) for level in diagram.level[1:].tolist()})
    for level in used:
        variable = diagram.order[level]
        declared.append(f"    wire x{variable} = x[{bits - 1 - variable}];")
    unread = [f"x[{bits - 1 - variable}]" for level, variable in enumerate(diagram.order) if level not in used]
    columns = (array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high))
    clocks = [0]
    for node, (level, low, high) in enumerate(zip(*columns, strict=True), 1):
        clock = (depth - 1 - level) // LEVELS
        clocks.append(clock)

        def edge(reference: int, clock: int = clock) -> str:
            child, inverted = reference >> 1, reference & 1
            if child == 0:
                return "1'b1" if inverted else "1'b0"
            return f"{'~' * inverted}{at(f'n{child}', clocks[child], clock)}"

        choice = at(inputs[diagram.order[level]], 0, clock)
        declared.append(f"    wire n{node} = {choice} ? {edge(high)} : {edge(low)};")
    for bit, root in enumerate(diagram.roots.tolist()):
        child, inverted = root >> 1, root & 1
        word = (
            ("1'b1" if inverted else "1'b0")
            if child == 0
            else f"{'~' * inverted}{at(f'n{child}', clocks[child], last)}"
        )
        declared.append(f"    assign y[{bit}] = {word};")
    lines += declared
    if delayed:
        lines += ["    always @(posedge clk) begin", *delayed, "    end"]
    else:
        unread.append("clk")
    if unread:
        lines.append(f"    wire unused = &{{1'b0, {', '.join(unread)}}};")
    return "\n".join([*lines, "endmodule", ""])
