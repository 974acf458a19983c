"""A circuit with its times as a module in plain Verilog-2001."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bddtorque.export.stage_times import Times
from bddtorque.export.verilog_stages import Circuit, Memory, Stage, word_text
from bddtorque.export.verilog_tables import SMALL_ADDRESS


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
    """

    name: str
    circuit: Circuit
    times: Times
    ports: Ports
    registers: int = 0
    register_bits: int = 0
    _declared: list[str] = field(default_factory=list)
    _by_phase: dict[int, list[str]] = field(default_factory=dict)
    _free: list[str] = field(default_factory=list)
    _unused: list[str] = field(default_factory=list)
    _instances: list[str] = field(default_factory=list)
    _copies: dict[int, list[str]] = field(default_factory=dict)

    def text(self) -> str:
        """Return the module."""
        for k, stage in enumerate(self.circuit.stages):
            self._stage(k, stage)
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
            yield f"    assign in_ready = phase == {bits}'d0;"
            yield "    always @(posedge clk)"
            yield f"        if (rst || phase == {bits}'d{interval - 1}) phase <= {bits}'d0;"
            yield f"        else phase <= phase + {bits}'d1;"
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
        if self._by_phase:
            bits = (interval - 1).bit_length()
            yield "    always @(posedge clk)"
            yield "        case (phase)"
            for phase in sorted(self._by_phase):
                yield f"        {bits}'d{phase}: begin"
                yield from (f"            {line}" for line in self._by_phase[phase])
                yield "        end"
            yield "        default: ;"
            yield "        endcase"
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
            self._declared.append(f"wire [{stage.bits - 1}:0] s{k} = p{self.times.units[k]}[{stage.bits - 1}:0];")
            self._copies[k] = [f"s{k}"]
            return
        self._register(f"s{k}", stage.bits)
        self._copies[k] = [f"s{k}"]
        last = ready - 1
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
        elif stage.kind == "product":
            self._product(k, stage, names, last)
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

    def _product(self, k: int, stage: Stage, names: Sequence[str], last: int) -> None:
        """Write a product with a multiplier of its own."""
        for part, source, name in zip("xy", stage.operands, names, strict=True):
            self._register(f"{part}{k}", self.circuit.stages[source].bits)
            self._free.append(f"{part}{k} <= {name};")
        self._register(f"m{k}", stage.bits)
        self._free.append(f"m{k} <= {_with_names(stage.text, [f'x{k}', f'y{k}'])};")
        self._load(last, f"s{k} <= m{k};")

    def _units(self) -> None:
        """Write the multipliers that take turns."""
        by_unit: dict[int, list[int]] = {}
        for k, unit in self.times.units.items():
            by_unit.setdefault(unit, []).append(k)
        for unit, products in sorted(by_unit.items()):
            stages = [self.circuit.stages[k] for k in products]
            widths = [max(self.circuit.stages[stage.operands[side]].range.bits for stage in stages) for side in (0, 1)]
            bits = max(sum(widths), *(stage.bits for stage in stages))
            for part, width in zip("xy", widths, strict=True):
                self._register(f"{part}{unit}", width, signed=True)
            for part in "mp":
                self._register(f"{part}{unit}", bits, signed=True)
            for k, stage in zip(products, stages, strict=True):
                for part, side, width in zip("xy", (0, 1), widths, strict=True):
                    source = self.circuit.stages[stage.operands[side]]
                    name = self._at(stage.operands[side], self.times.start[k])
                    text = word_text(name, source.bits, source.signed, width)
                    self._load(self.times.start[k], f"{part}{unit} <= {text};")
            full = [word_text(f"{part}{unit}", width, True, bits) for part, width in zip("xy", widths, strict=True)]
            self._free.append(f"m{unit} <= $signed({full[0]}) * $signed({full[1]});")
            self._free.append(f"p{unit} <= m{unit};")

    def _at(self, k: int, clock: int) -> str:
        """Return the name of a stage's word in a clock, through as many registers as it has to wait in."""
        copies, hold, interval = self._copies[k], self.times.hold(k), self.times.interval
        last = self.times.ready[k] + hold - 1  # the last clock in which it can be read where it comes out
        if clock <= last:
            return copies[0]
        wanted = -(-(clock - last) // interval)
        while len(copies) <= wanted:
            n = len(copies)
            name = f"d{k}_{n}"
            self._register(name, self.circuit.stages[k].bits)
            self._load(last + (n - 1) * interval, f"{name} <= {copies[-1]};")
            copies.append(name)
        return copies[wanted]


def _with_names(text: str, names: Sequence[str]) -> str:
    return re.sub(r"@(\d+)", lambda found: names[int(found[1])], text)


DECLARED = re.compile(r"^ *(?:reg|wire) (?:signed )?\[(\d+):0\] (\w+)(?:;| =)")
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
        texts.append(code)
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


def filled(first: str, parts: Sequence[str], last: str, width: int = 110) -> str:
    """Return parts with commas between them, in lines of a readable length."""
    lines = [first]
    for k, part in enumerate(parts):
        text = part + (", " if k + 1 < len(parts) else last)
        if len(lines[-1]) + len(text) > width:
            lines.append("        ")
        lines[-1] += text
    return "\n".join(line.rstrip() for line in lines)


def case_function(name: str, memory: Memory) -> list[str]:
    """Return a small ROM as a function."""
    address, bits = memory.address_bits, memory.bits
    lines = [f"function [{bits - 1}:0] {name};", f"    input [{address - 1}:0] x;", "    case (x)"]
    lines += [f"        {address}'d{place}: {name} = {bits}'h{word:x};" for place, word in enumerate(memory.words[:-1])]
    lines += [f"        default: {name} = {bits}'h{memory.words[-1]:x};", "    endcase", "endfunction"]
    return lines


def memory_text(memory: Memory) -> str:
    """Return what a ROM holds, as `$readmemh` reads it."""
    digits = -(-memory.bits // 4)
    return "".join(f"{word:0{digits}x}\n" for word in memory.words)


def is_block(memory: Memory) -> bool:
    """Whether a ROM is in block memory."""
    return memory.address_bits > SMALL_ADDRESS
