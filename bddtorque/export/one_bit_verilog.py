"""One-bit cores in plain Verilog-2001: each core with what its memories hold, and the machine around the cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bddtorque.export.folder import fill, template
from bddtorque.export.one_bit_program import (
    CHOOSE,
    CONDITION,
    CONDITIONAL,
    FIRST,
    NEGATE,
    NODE,
    SEND,
    SIDE,
    SIGN,
    START,
    TARGET,
    WAIT,
    WALK,
    WRITE,
    A,
    B,
    CountedClocks,
    Integers,
    OneBitMachine,
)
from bddtorque.export.verilog_exporter import hex_rows

CLOCK_BITS = 32


def vectors_text(machine: OneBitMachine, states: Integers, counted: CountedClocks) -> str:
    """Return clocks, expected words and states as `$readmemh` reads them.

    The first output is least significant; the first bit of a state that goes in is its most significant.
    """
    columns = [counted.clocks, *reversed(counted.words.T), *states.T]
    return hex_rows(columns, [CLOCK_BITS, *reversed(machine.outputs.values()), *machine.inputs.values()])


def testbench_text(name: str, machine: OneBitMachine, counted: CountedClocks) -> str:
    """Return a module that feeds all states and ends with OK, or with what differs first."""
    given, wanted = machine.input_bits, machine.output_bits
    zone = max((wanted - 1).bit_length(), 1)
    count = len(counted.clocks)
    limit = int(np.sum(counted.clocks)) + count * (8 * given + 100) + 1000
    return fill(
        template("one_bit_testbench.v"),
        name=name,
        count=count,
        row_top=CLOCK_BITS + wanted + given - 1,
        wanted=wanted,
        given=given,
        zone=zone,
        limit=limit,
        clocks_low=wanted + given,
    )


FLAGS = {
    "is_start": START, "is_walk": WALK, "is_wait": WAIT, "writes": WRITE, "sends": SEND, "first": FIRST,
    "negates": NEGATE, "conditional": CONDITIONAL, "conditions": CONDITION, "chooses": CHOOSE,
}  # fmt: skip
"""Names of the flags of a step in a core."""


FEW = 4
"""Up to so many cores even small memories are blocks; with more, that only larger parts hold, the tools choose."""


class Layout:
    """Where the fields of one core's code and nodes lie in their memories.

    A word of code has the flags and the target of a step, and what the step *after* it reads: so the memories of bits
    and nodes are read in the last clock of a step, and no clock is lost between steps.
    """

    def __init__(self, machine: OneBitMachine, core: int) -> None:
        self.machine, self.program = machine, machine.cores[core]
        code = self.program.code
        self.flags = [
            name for name, column in FLAGS.items() if code[:, column].any() and (machine.several or name != "sends")
        ]
        self.read = machine.read_bits
        self.node = max((len(self.program.nodes) - 1).bit_length(), 1)
        rows, whole = len(self.program.nodes), 1 << self.node
        self.rows = whole if not machine.several or 10 * rows > 7 * whole else rows
        """Of a core alone a power of two, of others where little is lost: no logic joins blocks of memory then."""
        style = ['ram_style = "block"'] if len(machine.cores) <= FEW else []
        self.style, self.bit_style = (
            f"(* {', '.join(each)} *) " if each else "" for each in (style, [*style, "no_rw_check"])
        )
        self.place = max((len(code) - 1).bit_length(), 1)
        self.other = max(self.read, self.node + 1)
        """Bits of the second bit that is read, or of a node and whether its walk is complemented."""
        self.target = max(machine.address_bits, machine.local_bits)
        self.code_bits = self.read + self.other + self.target + len(self.flags)
        self.edge_bits = 2 + self.node + self.read
        self.row_bits = 2 * self.edge_bits

    def code(self) -> Iterator[int]:
        """Yield the words of the code."""
        code = self.program.code.tolist()
        for k, step in enumerate(code):
            following = code[(k + 1) % len(code)]
            other = following[NODE] << 1 | following[SIGN] if following[WALK] else following[B]
            flags = sum(step[FLAGS[name]] << bit for bit, name in enumerate(self.flags))
            yield ((flags << self.target | step[TARGET]) << self.other | other) << self.read | following[A]

    def nodes(self) -> Iterator[int]:
        """Yield the words of the nodes."""
        for row in self.program.nodes.tolist():
            low, high = (
                ((ends << 1 | sign) << self.node | node) << self.read | bit
                for ends, sign, node, bit in (row[:SIDE], row[SIDE:])
            )
            yield high << self.edge_bits | low
        yield from [0] * (self.rows - len(self.program.nodes))

    @property
    def memory_bits(self) -> int:
        """Bits of the memories of code, nodes and bits, each bit memory once."""
        machine = self.machine
        bits = (
            2 * (2 << machine.address_bits) + (1 << machine.local_bits)
            if machine.several
            else 2 << machine.address_bits
        )
        return len(self.program.code) * self.code_bits + self.rows * self.row_bits + bits


def core_text(name: str, layout: Layout) -> str:
    """Return the module of a core, which is called `name` and reads NAME_code.hex and NAME_nodes.hex."""
    machine, read, other = layout.machine, layout.read, layout.other
    shared, words, rows = machine.address_bits, len(layout.program.code), layout.rows
    start = read + other
    flags = "\n".join(
        f"    wire {each} = "
        + (f"code[{start + layout.target + layout.flags.index(each)}];" if each in layout.flags else "1'b0;")
        for each in FLAGS
        if machine.several or each not in ("sends", "is_wait")
    )
    ports, memory, sending, address, reads = _several(layout) if machine.several else _alone(layout)
    done = "is_start ? go : is_walk ? ends : " + ("is_wait ? fresh : 1'b1" if machine.several else "1'b1")
    value = "2'd{}" if machine.several else "1'b{}"
    return fill(
        template("core.v"),
        name=name,
        shared=shared,
        ports=ports,
        style=layout.style,
        code_bits=layout.code_bits,
        words=words,
        row_bits=layout.row_bits,
        rows=rows,
        memory=memory,
        size=2 << shared,
        zero=value.format(0),
        one=value.format(1),
        second=(1 << shared) + 1,
        flags=flags,
        place=layout.place,
        edge_bits=layout.edge_bits,
        done=done,
        sending=sending,
        read=read,
        address=address,
        node=layout.node,
        sign=read + layout.node,
        reads=reads,
    )


def _alone(layout: Layout) -> tuple[str, ...]:
    """Return what only a core by itself has: ports, memories, what it sends, addresses, reads and writes."""
    read, other, size = layout.read, layout.other, 2 << layout.machine.address_bits
    memory = f"    {layout.bit_style}reg shared [0:{size - 1}];\n    reg one, another;"
    sending = f"""\
    wire fire = ~boot & done;
    assign idle = is_start & ~boot;
    assign send_valid = fire & writes;
    assign send_address = code[{read + other + layout.target - 1}:{read + other}];
    assign send_bit = result;"""
    address = f"fire ? code[{read - 1}:0] : side[{read - 1}:0]"
    reads = f"""\
        one <= shared[{{bank, address}}];
        if (fire) another <= shared[{{bank, code[{2 * read - 1}:{read}]}}];
        if (bus_valid) shared[{{bus_bank, bus_address}}] <= bus_bit;"""
    return "", memory, sending, address, reads


def _several(layout: Layout) -> tuple[str, ...]:
    """Return what a core among others has: a memory of its own, and a buffer for what it sends."""
    read, other, shared, local = layout.read, layout.other, layout.machine.address_bits, layout.machine.local_bits
    ports = ",\n    input wire grant,\n    input wire tag"
    memory = f"""\
    {layout.bit_style}reg [1:0] shared [0:{(2 << shared) - 1}];
    {layout.bit_style}reg own [0:{(1 << local) - 1}];
    reg [1:0] shared_one, shared_another;
    reg own_one, own_another, remote_one, remote_another;
    wire one = remote_one ? shared_one[0] : own_one;
    wire another = remote_another ? shared_another[0] : own_another;"""
    unused = ["shared_another[1]", *([f"address[{read - 2}:{local}]"] if local < read - 1 else [])]

    sending = f"""\
    wire fresh = shared_one[1] == tag;
    reg full = 1'b0, full_bit = 1'b0;
    reg [{shared - 1}:0] full_address = {shared}'d0;
    reg [{read - 1}:0] held = {read}'d0;
    wire fire = ~boot & done & (~sends | ~full | grant);
    assign idle = is_start & ~boot & ~full;
    assign send_valid = full;
    assign send_address = full_address;
    assign send_bit = full_bit;
    wire unused = &{{1'b0, {", ".join(unused)}}};"""
    address = f"fire ? code[{read - 1}:0] : is_walk & ~ends ? side[{read - 1}:0] : held"
    reads = f"""\
        held <= address;
        shared_one <= shared[{{bank, address[{shared - 1}:0]}}];
        own_one <= own[address[{local - 1}:0]];
        remote_one <= address[{read - 1}];
        if (fire) begin
            shared_another <= shared[{{bank, code[{read + shared - 1}:{read}]}}];
            own_another <= own[code[{read + local - 1}:{read}]];
            remote_another <= code[{2 * read - 1}];
        end
        if (bus_valid) shared[{{bus_bank, bus_address}}] <= {{tag, bus_bit}};
        if (fire & writes) own[code[{read + other + local - 1}:{read + other}]] <= result;
        if (fire & sends) begin
            full <= 1'b1;
            full_address <= code[{read + other + shared - 1}:{read + other}];
            full_bit <= result;
        end else if (grant) full <= 1'b0;"""
    return ports, memory, sending, address, reads


def machine_text(name: str, machine: OneBitMachine) -> str:
    """Return the module on top: takes a state bit by bit, starts the cores, and gives the bits of the words out."""
    cores, shared = len(machine.cores), machine.address_bits
    end = machine.input_start + machine.input_bits
    load = end.bit_length()
    zone = max((machine.output_bits - 1).bit_length(), 1)
    tag = machine.several
    instances = "\n".join(
        f"""\
    {name}_core{k} core{k} (.clk(clk), .go(go), .idle(idle[{k}]), .bank(bank), .bus_valid(bus_valid),
        .bus_bank(core_valid ? bank : ~bank), .bus_address(bus_address), .bus_bit(bus_bit),
        .send_valid(send[{k}]), .send_address(address{k}), .send_bit(bits[{k}])\
{f", .grant(grant[{k}]), .tag(tag)" if tag else ""});"""
        for k in range(cores)
    )
    declared = "\n".join(f"    wire [{shared - 1}:0] address{k};" for k in range(cores))
    grants = f"    wire [{cores - 1}:0] grant = send & (~send + {cores}'d1);\n" if tag else ""
    chosen = (
        " |\n        ".join(f"({{{shared}{{grant[{k}]}}}} & address{k})" for k in range(cores)) if tag else "address0"
    )
    bit = "|(bits & grant)" if tag else "bits[0]"
    padding = f"{{{shared - load}'d0, count}}" if shared > load else f"count[{shared - 1}:0]"
    return fill(
        template("cores.v"),
        load=load,
        input_start=machine.input_start,
        tags=", tag = 1'b0" if tag else "",
        cores=cores,
        declared=declared,
        grants=grants,
        shared=shared,
        chosen=chosen,
        bit=bit,
        padding=padding,
        zone=zone,
        instances=instances,
        turn="        if (begins & bank) tag <= ~tag;" if tag else "",
    )
