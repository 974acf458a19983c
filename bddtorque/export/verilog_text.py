"""A circuit with its times as a module in plain Verilog-2001."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bddtorque.export.stage_times import Times
from bddtorque.export.verilog_cells import is_long, pieces
from bddtorque.export.verilog_stages import Circuit, Stage, word_text
from bddtorque.export.verilog_tables import case_function

DECLARED = re.compile(r"^ *(?:reg|wire) (?:signed )?\[(\d+):0\] (\w+)(?:;| =)")
WRITTEN = re.compile(r"\.out\(\w+\)")
READ = re.compile(r"\b([a-z]\w*)\b(?:\[(\d+)(?::(\d+))?\])?")


def unread_bits(lines: Sequence[str]) -> list[str]:
    """Return the bits of registers and wires that nothing reads: of sums whose low bits are only rounded, say."""
    widths: dict[str, int] = {}
    texts: list[str] = []
    for line in "\n".join(lines).splitlines():
        code = line.partition("//")[0]
        if declared := DECLARED.match(code):
            widths[declared[2]] = int(declared[1]) + 1
            code = code[declared.end() :]
        elif "<=" in code and "if (" not in code:
            code = code.partition("<=")[2]
        texts.append(WRITTEN.sub("", code))
    read = dict.fromkeys(widths, 0)
    for name, high, low in READ.findall("\n".join(texts)):
        if name in read:
            bits = (1 << widths[name]) - 1 if not high else (2 << int(high)) - (1 << int(low or high))
            read[name] |= bits
    return [text for name, bits in read.items() for text in _bit_texts(name, widths[name], bits)]


def _bit_texts(name: str, width: int, read: int) -> Iterator[str]:
    """Yield the runs of bits that are not read."""
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
    """Writes one module.

    Attributes
    ----------
    name
        Of the module.
    circuit, times, ports
        What is written.
    registers, register_bits
        Counted while writing.
    cells
        Modules of `verilog_cells` that are used.
    """

    name: str
    circuit: Circuit
    times: Times
    ports: Ports
    registers: int = 0
    register_bits: int = 0
    cells: set[str] = field(default_factory=set)
    _declared: list[str] = field(default_factory=list)
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
        outputs = [self._at(k, self.times.latency) for k in self.circuit.outputs]
        read = {stage.place for stage in self.circuit.stages if stage.kind == "input"}
        self._unused += [name for place, name in enumerate(self.ports.inputs) if place not in read]
        body = list(self._body(outputs))
        self._unused += unread_bits(body)
        if self._unused:  # linters know the name
            body.append(filled("    wire unused = &{1'b0, ", self._unused, "};"))
        return "\n".join([*self._head(), *body, "endmodule", ""])

    def _head(self) -> Iterator[str]:
        ports = ["input wire clk", "input wire rst", "input wire in_valid", "output wire in_ready"]
        ports += [f"input wire signed [{bits - 1}:0] {name}" for name, bits in self.ports.inputs.items()]
        ports += ["output wire out_valid"]
        ports += [f"output wire signed [{bits - 1}:0] {name}" for name, bits in self.ports.outputs.items()]
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

    def _register(self, name: str, bits: int, signed: bool = False) -> None:
        self._declared.append(f"reg {'signed ' * signed}[{bits - 1}:0] {name};")
        self.registers += 1
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
            unit = self.times.units[k]
            self._declared.append(f"wire [{stage.bits - 1}:0] s{k} = p{unit}[{stage.bits - 1}:0];")
            return
        last = ready - 1
        if stage.kind == "product":
            self._multiply(k, [self._operand(k, side) for side in (0, 1)])
            self._declared.append(f"wire [{stage.bits - 1}:0] s{k} = p{k}[{stage.bits - 1}:0];")
            return
        self._register(f"s{k}", stage.bits)
        if stage.kind == "input":
            self._load(last, f"s{k} <= {list(self.ports.inputs)[stage.place]};")
            return
        names = [self._at(source, start) for source in stage.operands]
        text = _with_names(stage.text, names)
        if stage.kind == "memory":
            self._memory(k, stage, text, last)
        elif stage.kind == "network":
            self._declared.append(f"wire [{stage.bits - 1}:0] n{k};")
            self._instances.append(f"{self.name}_block{stage.place} b{k} (.clk(clk), .x({text}), .y(n{k}));")
            self._load(last, f"s{k} <= n{k};")
        elif stage.drop:
            self._declared.append(f"wire [{stage.bits + stage.drop - 1}:0] f{k} = {text};")
            self._load(last, f"s{k} <= f{k}[{stage.bits + stage.drop - 1}:{stage.drop}];")
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
        self._load(last, f"s{k} <= r{k};")

    def _operand(self, k: int, side: int, width: int = 0) -> tuple[str, int]:
        """Return an operand of a product as a signed word, and its bits: of `width` bits if that is given."""
        source = self.circuit.stages[self.circuit.stages[k].operands[side]]
        width = width or source.range.bits
        name = self._at(self.circuit.stages[k].operands[side], self.times.start[k])
        return word_text(name, source.bits, source.signed, width), width

    def _multiply(self, number: int, operands: Sequence[tuple[str, int]]) -> None:
        """Write a multiplier, whose product is p with its number."""
        (left, x), (right, y) = operands
        self.cells.add("multiply")
        self._declared.append(f"wire [{x + y - 1}:0] p{number};")
        self._instances.append(
            f"{self.name}_multiply #(.X({x}), .Y({y})) u{number} (.clk(clk), .left({left}), .right({right}), "
            f".out(p{number}));"
        )
        self.registers += 3
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
                self._declared.append(f"wire [{width - 1}:0] {part}{unit} = {chosen};")
                operands.append((f"{part}{unit}", width))
            self._multiply(unit, operands)

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
                    self._load(clock, f"{name} <= {before};")
                else:
                    self._line(name, before, bits, step, clock)
            names[place] = name

    def _line(self, name: str, word: str, bits: int, clocks: int, clock: int) -> None:
        """Write a line that delays a word."""
        enable = "1'b1" if self.times.interval == 1 else f"turn[{clock % self.times.interval}]"
        self._declared.append(f"wire [{bits - 1}:0] {name};")
        self._instances.append(
            f"{self.name}_delay #(.BITS({bits}), .CLOCKS({clocks})) l{name[1:]} (.clk(clk), .en({enable}), "
            f".word({word}), .out({name}));"
        )
        self.cells.add("delay")
        self.registers += clocks
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


def _with_names(text: str, names: Sequence[str]) -> str:
    return re.sub(r"@(\d+)", lambda found: names[int(found[1])], text)


def filled(first: str, parts: Sequence[str], last: str, width: int = 110) -> str:
    """Return parts with commas between them, in lines of a readable length."""
    lines = [first]
    for k, part in enumerate(parts):
        text = part + (", " if k + 1 < len(parts) else last)
        if len(lines[-1]) + len(text) > width:
            lines.append("        ")
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)
