"""A circuit with its times as a module in plain Verilog-2001, and the modules that it is made of.

A multiplier, and a line that delays a word: each is written twice. `NAME_multiply.v` and `NAME_delay.v` are plain
registers, which any tool takes: on the 7 series they become registers of multipliers and shift registers in look-up
tables. `NAME_ecp5.v` has modules of the same names and meaning for the ECP5, where Yosys packs no registers into
multipliers and knows no shift registers: the registers are those of the multiplier, and a line is a ring in distributed
memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bddtorque.export.folder import fill, template
from bddtorque.export.verilog_stages import Circuit, Stage, Times, word_text
from bddtorque.export.verilog_tables import case_function

MULTIPLIER_BITS = 18
"""Of the signed words that one multiplier takes: on the ECP5 18 by 18, on the 7 series 18 by 25."""
MULTIPLIER_CLOCKS = 2
"""Registers before and behind a multiplier."""
MAX_DELAY = 17
"""Clocks of one line: 16 words of memory, and the register behind it."""
MEMORY_BITS = 4
"""Of a word of the smallest distributed memory, which takes 6 look-up tables: 4, and 2 for its inputs."""
COUNTER_BITS = 4


def is_long(bits: int, clocks: int) -> bool:
    """Tell if a word should wait in a line: if memory saves three registers per look-up table it takes."""
    saved = bits * (clocks - 1) - COUNTER_BITS
    taken = 6 * -(-bits // MEMORY_BITS) + COUNTER_BITS
    return saved >= 3 * taken


def pieces(clocks: int) -> list[int]:
    """Return a delay as those of lines one after the other, of about the same length."""
    count = -(-clocks // MAX_DELAY)
    return [clocks // count + (k < clocks % count) for k in range(count)]


def cell_text(cell: str, name: str) -> str:
    """Return a module that a circuit uses: `multiply` or `delay` in plain Verilog; `ecp5` has both for that family."""
    numbers = {"multiplier_bits": MULTIPLIER_BITS, "multiplier_clocks": MULTIPLIER_CLOCKS, "max_delay": MAX_DELAY}
    heads = {part: fill(template(f"{part}_head.v"), name=name, **numbers) for part in ("multiply", "delay")}
    ports = ",\n".join(
        f"        {', '.join(f'.{port}{k}({signal}[{k}])' for k in range(start, start + 9))}"
        for port, signal, bits in (("A", "x", 18), ("B", "y", 18), ("P", "p", 36))
        for start in range(0, bits, 9)
    )
    return fill(template(f"{cell}.v"), name=name, ports=ports, **numbers, **heads)


OPERAND = re.compile(r"@(\d+)(?:\[(\d+)(?::(\d+))?\])?")
"""A place for the word of an operand in the expression of a stage, and the bits of it that are read."""


def _unread(name: str, width: int, read: int) -> Iterator[str]:
    """Yield the runs of bits of a word that are not read, of sums whose low bits are only rounded, say."""
    place = 0
    while place < width:
        if read >> place & 1:
            place += 1
            continue
        end = place
        while end < width and not read >> end & 1:
            end += 1
        yield name if (place, end) == (0, width) else f"{name}[{end - 1}:{place}]"
        place = end


@dataclass(frozen=True)
class Ports:
    """The words of a module: names and bits of inputs and outputs."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    unsigned: frozenset[str] = frozenset()  # names of words that are not two's complement

    @property
    def wires(self) -> dict[str, str]:
        """The type of each word with its name, as Verilog declares it."""
        sides = (*self.inputs.items(), *self.outputs.items())
        return {name: f"wire {'signed ' * (name not in self.unsigned)}[{bits - 1}:0] {name}" for name, bits in sides}

    @property
    def input_bits(self) -> int:
        """Bits of all input words."""
        return sum(self.inputs.values())

    @property
    def output_bits(self) -> int:
        """Bits of all output words."""
        return sum(self.outputs.values())


@dataclass
class ModuleWriter:
    """Writes one module."""

    name: str
    circuit: Circuit
    times: Times
    ports: Ports
    register_bits: int = 0  # counted while writing
    cells: set[str] = field(default_factory=set)  # modules of `cell_text` that are used
    _declared: list[str] = field(default_factory=list)
    _widths: dict[str, int] = field(default_factory=dict)  # of registers and wires, in the order they are declared
    _read: dict[str, int] = field(default_factory=dict)  # the bits of them that are read
    _by_phase: dict[int, list[str]] = field(default_factory=dict)
    _free: list[str] = field(default_factory=list)
    _unused: list[str] = field(default_factory=list)
    _instances: list[str] = field(default_factory=list)
    _copies: dict[int, dict[int, str]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the module."""
        reads = self._reads()
        for k, stage in enumerate(self.circuit.stages):
            self._stage(k, stage)
            self._wait(k, reads[k])
        self._units()
        outputs = [self._bits(self._at(k, self.times.latency)) for k in self.circuit.outputs]
        read = {stage.place for stage in self.circuit.stages if stage.kind == "input"}
        self._unused += [name for place, name in enumerate(self.ports.inputs) if place not in read]
        for name, width in self._widths.items():
            self._unused += _unread(name, width, self._read.get(name, 0))
        body = list(self._body(outputs))
        if self._unused:  # linters know the name
            body.append(filled("    wire unused = &{1'b0, ", self._unused, "};"))
        return "\n".join([*self._head(), *body, "endmodule", ""])

    def _head(self) -> Iterator[str]:
        ports = ["input wire clk", "input wire rst", "input wire in_valid", "output wire in_ready"]
        ports += [f"input {self.ports.wires[name]}" for name in self.ports.inputs]
        ports += ["output wire out_valid"]
        ports += [f"output {self.ports.wires[name]}" for name in self.ports.outputs]
        yield f"module {self.name} ("
        yield ",\n".join(f"    {port}" for port in ports)
        yield ");"

    def _body(self, outputs: Sequence[str]) -> Iterator[str]:
        latency, interval = self.times.latency, self.times.interval
        yield f"    reg [{latency - 1}:0] valid;"
        if interval > 1:
            bits = (interval - 1).bit_length()
            yield f"    reg [{bits - 1}:0] phase; // clocks since a state was taken, modulo {interval}"
            yield f"    reg [{interval - 1}:0] turn; // the same, one bit for each"
            yield "    assign in_ready = turn[0];"
            yield "    always @(posedge clk)"
            yield f"        if (rst || turn[{interval - 1}]) begin"
            yield f"            phase <= {bits}'d0;"
            yield f"            turn <= {interval}'d1;"
            yield "        end else begin"
            yield f"            phase <= phase + {bits}'d1;"
            yield f"            turn <= {{turn[{interval - 2}:0], 1'b0}};"
            yield "        end"
        else:
            yield "    assign in_ready = 1'b1;"
        yield "    always @(posedge clk)"
        yield f"        if (rst) valid <= {latency}'d0;"
        enter = "in_valid" if interval == 1 else "in_valid && in_ready"
        shifted = f"{{valid[{latency - 2}:0], {enter}}}" if latency > 1 else enter
        yield f"        else valid <= {shifted};"
        yield f"    assign out_valid = valid[{latency - 1}];"
        yield ""
        yield from (f"    {line}" for line in self._declared)
        yield from (f"    {line}" for line in self._instances)
        yield ""
        if self._free:
            yield "    always @(posedge clk) begin"
            yield from (f"        {line}" for line in self._free)
            yield "    end"
        for phase, lines in sorted(self._by_phase.items()):
            yield "    always @(posedge clk)"
            yield f"        if (turn[{phase}]) begin"
            yield from (f"            {line}" for line in lines)
            yield "        end"
        for name, signal in zip(self.ports.outputs, outputs, strict=True):
            yield f"    assign {name} = {signal};"

    def _declare(self, kind: str, name: str, bits: int, value: str = "") -> None:
        self._declared.append(f"{kind} [{bits - 1}:0] {name}{' = ' * bool(value)}{value};")
        self._widths[name] = bits

    def _bits(self, name: str, high: int | None = None, low: int = 0) -> str:
        """Return the text of a word, or of its bits from `high` to `low`, which are read."""
        last = self._widths[name] - 1 if high is None else high
        self._read[name] = self._read.get(name, 0) | (2 << last) - (1 << low)
        return name if high is None else f"{name}[{high}:{low}]"

    def _expression(self, text: str, names: Sequence[str]) -> str:
        """Return an expression with names in the places of its operands, of which it reads some bits."""

        def operand(place: re.Match[str]) -> str:
            name, high, low = names[int(place[1])], place[2], place[3]
            if high and not low:
                self._bits(name, int(high), int(high))
                return f"{name}[{high}]"
            return self._bits(name, int(high), int(low)) if high else self._bits(name)

        return OPERAND.sub(operand, text)

    def _register(self, name: str, bits: int) -> None:
        self._declare("reg", name, bits)
        self.register_bits += bits

    def _load(self, clock: int, statement: str) -> None:
        """Let a statement run in a clock of every state."""
        if self.times.interval == 1:
            self._free.append(statement)
        else:
            self._by_phase.setdefault(clock % self.times.interval, []).append(statement)

    def _stage(self, k: int, stage: Stage) -> None:
        note = self.circuit.notes.get(k)
        if note:
            self._declared.append(f"// s{k}: {note}")
        start, ready = self.times.start[k], self.times.ready[k]
        if k in self.times.units:  # comes out of a multiplier that others use too
            self._declare("wire", f"s{k}", stage.bits, f"p{self.times.units[k]}[{stage.bits - 1}:0]")
            return
        last = ready - 1
        if stage.kind == "product":
            self._multiply(k, [self._operand(k, side) for side in (0, 1)])
            self._declare("wire", f"s{k}", stage.bits, self._bits(f"p{k}", stage.bits - 1))
            return
        self._register(f"s{k}", stage.bits)
        if stage.kind == "input":
            self._load(last, f"s{k} <= {list(self.ports.inputs)[stage.place]};")
            return
        names = [self._at(source, start) for source in stage.operands]
        text = self._expression(stage.text, names)
        if stage.kind == "memory":
            self._memory(k, stage, text, last)
        elif stage.kind == "network":
            self._declare("wire", f"n{k}", stage.bits)
            self._instances.append(f"{self.name}_block{stage.place} b{k} (.clk(clk), .x({text}), .y(n{k}));")
            self._load(last, f"s{k} <= {self._bits(f'n{k}')};")
        elif stage.drop:
            self._declare("wire", f"f{k}", stage.bits + stage.drop, text)
            self._load(last, f"s{k} <= {self._bits(f'f{k}', stage.bits + stage.drop - 1, stage.drop)};")
        else:
            self._load(last, f"s{k} <= {text};")

    def _memory(self, k: int, stage: Stage, address: str, last: int) -> None:
        memory = self.circuit.memories[stage.place]
        if stage.latency == 1:
            self._declared += case_function(f"t{k}", memory)
            self._load(last, f"s{k} <= t{k}({address});")
            return
        self._declared.append(f'(* rom_style = "block" *) reg [{memory.bits - 1}:0] t{k} [0:{len(memory.words) - 1}];')
        self._declared.append(f'initial $readmemh("{self.name}_rom{stage.place}.hex", t{k});')
        self._register(f"r{k}", memory.bits)
        self._free.append(f"r{k} <= t{k}[{address}];")
        self._load(last, f"s{k} <= {self._bits(f'r{k}')};")

    def _operand(self, k: int, side: int, width: int = 0) -> tuple[str, int]:
        """Return an operand of a product as a signed word, and its bits: of `width` bits if that is given."""
        stage = self.circuit.stages[k].operands[side]
        source = self.circuit.stages[stage]
        width = width or source.range.bits
        text = word_text("@0", source.bits, source.signed, width)
        return self._expression(text, [self._at(stage, self.times.start[k])]), width

    def _multiply(self, number: int, operands: Sequence[tuple[str, int]]) -> None:
        """Write a multiplier, whose product is p with its number."""
        (left, x), (right, y) = operands
        self.cells.add("multiply")
        self._declare("wire", f"p{number}", x + y)
        self._instances.append(
            f"{self.name}_multiply #(.X({x}), .Y({y})) u{number} (.clk(clk), .left({left}), .right({right}), "
            f".out(p{number}));"
        )
        self.register_bits += 2 * (x + y)

    def _units(self) -> None:
        """Write the multipliers that take turns."""
        by_unit: dict[int, dict[int, int]] = {}
        for k, unit in self.times.units.items():
            by_unit.setdefault(unit, {})[self.times.start[k] % self.times.interval] = k
        for unit, products in sorted(by_unit.items()):
            operands = []
            for side, part in enumerate("xy"):
                width = max(self._operand(k, side)[1] for k in products.values())
                texts = {phase: self._operand(k, side, width)[0] for phase, k in products.items()}
                chosen = _chosen(texts, (self.times.interval - 1).bit_length())
                self._declare("wire", f"{part}{unit}", width, chosen)
                operands.append((self._bits(f"{part}{unit}"), width))
            self._multiply(unit, operands)
            for k in products.values():
                self._bits(f"p{unit}", self.circuit.stages[k].bits - 1)

    def _reads(self) -> list[set[int]]:
        """Return by stage how many copies back its word is read: 0 where it comes out."""
        reads: list[set[int]] = [set() for _ in self.circuit.stages]
        for k, stage in enumerate(self.circuit.stages):
            for source in stage.operands:
                reads[source].add(self._copy(source, self.times.start[k]))
        for k in self.circuit.outputs:
            reads[k].add(self._copy(k, self.times.latency))
        return reads

    def _copy(self, k: int, clock: int) -> int:
        """Return which copy of a stage's word is read in a clock."""
        return max(0, -(-(clock - self._last(k)) // self.times.interval))

    def _last(self, k: int) -> int:
        """Return the last clock in which a stage's word can be read where it comes out."""
        return self.times.ready[k] + self.times.hold(k) - 1

    def _wait(self, k: int, reads: set[int]) -> None:
        """Write the registers and lines that a stage's word waits in."""
        bits, clock = self.circuit.stages[k].bits, self._last(k)
        place, name = 0, f"s{k}"
        names = self._copies[k] = {0: name}
        for wanted in sorted(reads - {0}):
            steps = pieces(wanted - place) if is_long(bits, wanted - place) else [1] * (wanted - place)
            for step in steps:
                place, before, name = place + step, name, f"d{k}_{place + step}"
                if step == 1:
                    self._register(name, bits)
                    self._load(clock, f"{name} <= {self._bits(before)};")
                else:
                    self._line(name, before, bits, step, clock)
            names[place] = name

    def _line(self, name: str, word: str, bits: int, clocks: int, clock: int) -> None:
        """Write a line that delays a word."""
        enable = "1'b1" if self.times.interval == 1 else f"turn[{clock % self.times.interval}]"
        self._declare("wire", name, bits)
        self._instances.append(
            f"{self.name}_delay #(.BITS({bits}), .CLOCKS({clocks})) l{name[1:]} (.clk(clk), .en({enable}), "
            f".word({self._bits(word)}), .out({name}));"
        )
        self.cells.add("delay")
        self.register_bits += bits * clocks

    def _at(self, k: int, clock: int) -> str:
        """Return the name of a stage's word in a clock."""
        return self._copies[k][self._copy(k, clock)]


def _chosen(texts: Mapping[int, str], bits: int) -> str:
    """Return the text of the present phase; phases without one may give any."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    half = 1 << (bits - 1)
    low = {phase: text for phase, text in texts.items() if phase < half}
    high = {phase - half: text for phase, text in texts.items() if phase >= half}
    if not low or not high:
        return _chosen(low or high, bits - 1)
    return f"phase[{bits - 1}] ? ({_chosen(high, bits - 1)}) : ({_chosen(low, bits - 1)})"


def filled(first: str, parts: Sequence[str], last: str, width: int = 110) -> str:
    """Return parts with commas between them, in lines of a readable length."""
    lines = [first]
    for k, part in enumerate(parts):
        text = part + (", " if k + 1 < len(parts) else last)
        if len(lines[-1]) + len(text) > width:
            lines.append("        ")
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)
