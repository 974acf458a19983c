"""The wires of a plan as C statements: one per wire, from the words of a state to its torque words.

Rounding is floor(x/2^s + 1/2) by a shift whose result C defines for negative numbers too (`c_helpers`). Words that wrap
are computed in unsigned numbers. Every operation has the type that `integer_ranges` proved to hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.program import QUANTITIES, limits
from bddtorque.export.c_text import ConstantArray, integer, statement
from bddtorque.export.integer_ranges import Arithmetic, Word, check_products, known_words, sum_arithmetic
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words import Format
from bddtorque.words.integer_range import INT32, Range


@dataclass(frozen=True)
class Steps:
    """The body of the function that computes torque words.

    Attributes
    ----------
    lines : statements, in the order they run
    blocks : numbers of the blocks they look up
    limbs : of each table of unsigned products that wide products are put together from, its bits a factor
    preamble : what must stand before all other code
    libraries : what a program is linked with
    arrays, functions : what they read and call beside tables of the plan
    """

    lines: tuple[str, ...]
    blocks: tuple[int, ...]
    limbs: Mapping[int, int] = field(default_factory=dict)
    preamble: str = ""
    libraries: str = ""
    arrays: tuple[ConstantArray, ...] = ()
    functions: str = ""


def plan_steps(plan: Plan, tables: Sequence[Table], inputs: Iterable[str], clamp: bool = True) -> Steps:
    """Return the statements of a plan after those of its `inputs`; without `clamp`, only what needs it is clamped."""
    check_products(plan, tables)
    words = known_words(plan, tables)
    live = plan.read
    lines = list(inputs)
    lines += [_wire(plan, k, words) for k in live if not isinstance(plan.wires[k], Input)]
    lines += [_output(k, output, words, clamp) for k, output in enumerate(plan.outputs)]
    taken = [wire for k in live if isinstance(wire := plan.wires[k], Product)]
    limbs = {wire.block: wire.limb_bits for wire in taken if wire.method == "limbs"}
    blocks = {wire.block for wire in taken if wire.method != "native"}
    blocks |= {wire.block for k in live if isinstance(wire := plan.wires[k], Lookup)}
    return Steps(tuple(lines), tuple(sorted(blocks)), dict(sorted(limbs.items())))


def state_inputs(model: Model, together: bool = False) -> Iterator[str]:
    """Yield the statements that take every input word: masked or clamped, and counted where it is out of range.

    With `together`, words that are to be clamped are tested all at once, and looked at one by one only if some word is
    out of range: fewer operations for states in range, more for the others.
    """
    plan = model.plan
    places = {wire.name: k for k, wire in enumerate(plan.wires) if isinstance(wire, Input)}
    live = set(plan.read)  # a variable that nobody reads is an error to a strict compiler
    tested = set(_tested_formats(model)) if together else set()
    yield from _range_test(model) if tested else ()
    for quantity in QUANTITIES:
        formats = getattr(model.formats, quantity)
        used = quantity in tested
        for joint, word in enumerate(formats):
            k = places.get(f"{quantity}{joint + 1}", -1)
            if k >= 0 and plan.bits_of(k) != word.bits:
                raise BddTorqueError(f"export, wire {k} must have the {word.bits} bits of its format")
            variable = f"w{k}" if k in live else None
            lines = list(_input(f"{quantity}[{joint}]", word, variable, quantity in tested))
            used = used or bool(lines)
            yield from lines
        if not used:
            yield f"    (void){quantity};"


def _tested_formats(model: Model) -> dict[str, list[Format]]:
    """Return the formats of the quantities that have words to be clamped."""
    formats = {quantity: list(getattr(model.formats, quantity)) for quantity in QUANTITIES}
    return {name: words for name, words in formats.items() if any(word.kind == "range" for word in words)}


def _range_test(model: Model) -> Iterator[str]:
    """Yield a test of all words that are to be clamped; where one is out of range, copies are taken in their place."""
    quantities = _tested_formats(model)
    sums: dict[int, list[str]] = {}
    for quantity, formats in quantities.items():
        yield f"    int32_t held_{quantity}[{len(formats)}];"
        for joint, word in enumerate(formats):
            if word.kind == "range":
                sums.setdefault(word.bits, []).append(f"((uint32_t){quantity}[{joint}] + {1 << (word.bits - 1)}u)")
    tests = [
        f"{'| ' if k or place else ''}{'(' * (not place)}{each}{f') >> {bits}' * (place == len(among) - 1)}"
        for k, (bits, among) in enumerate(sums.items())
        for place, each in enumerate(among)
    ]
    yield statement("if (", tests, ") { /* some word is out of range */")
    for quantity, formats in quantities.items():
        for joint, word in enumerate(formats):
            given, held = f"{quantity}[{joint}]", f"held_{quantity}[{joint}]"
            if word.kind == "range":
                ends = [integer(end, 32) for end in (word.lowest, word.highest)]
                yield f"        outside += {_beyond(given, word.lowest, word.highest)};"
                yield f"        {held} = clamped32({given}, {', '.join(ends)});"
            else:
                yield f"        {held} = {given};"
        yield f"        {quantity} = held_{quantity};"
    yield "    }"


def _input(given: str, word: Format, variable: str | None, tested: bool) -> Iterator[str]:
    """Yield what takes one word; a word of 32 bits is any number of 32 bits.

    `variable` is None if nobody reads it; a word that is `tested` is in range by now, unless it is an angle.
    """
    first, last = limits(word)
    if word.kind == "range" and tested:
        if variable:
            yield f"    const int32_t {variable} = {given};"
        return
    if word.kind == "range":
        if word.bits < 32:
            yield f"    outside += {_beyond(given, first, last)};"
        if variable:
            ends = f"{integer(word.lowest, 32)}, {integer(word.highest, 32)}"
            yield f"    const int32_t {variable} = {f'clamped32({given}, {ends})' if word.bits < 32 else given};"
        return
    held = f"wrapped32((uint32_t){given}, {word.bits})" if word.bits < 32 else given
    if variable:
        yield f"    const int32_t {variable} = {held};"
    if (first, last) != (word.lowest, word.highest):
        yield f"    outside += {_beyond(variable or held, first, last)};"


def _beyond(word: str, first: int, last: int) -> str:
    """Return 1 if a word is not from first to last or, where last is below first, lies between them; else 0."""
    both = "||" if first <= last else "&&"
    ends = [integer(end, 32 if Range(end, end).within(INT32) else 64) for end in (first, last)]
    return f"{word} < {ends[0]} {both} {word} > {ends[1]}"


def _wire(plan: Plan, k: int, words: Sequence[Word]) -> str:
    wire, word = plan.wires[k], words[k]
    declared = f"const int{word.bits}_t w{k} = "
    match wire:
        case AngleSum() | Lookup():
            return word_step(wire, declared)
        case Product():
            return _product(wire, word, words, declared)
        case Sum():
            return _rounded(declared, _terms(wire, word.arithmetic, words), wire.shift, word.arithmetic)
        case _:
            raise AssertionError(wire)


def word_step(wire: AngleSum | Lookup, declared: str) -> str:
    """Return the statement of a sum of angles or a look-up."""
    if isinstance(wire, Lookup):
        return f"    {declared}{_call(wire.block, wire.wires)};"
    terms = []
    for source, multiplier, shift in wire.parts:
        factor = (multiplier << shift) % 2**32
        taken = f"(uint32_t)w{source}"
        terms.append(f"+ {taken}" if factor == 1 else f"+ UINT32_C({factor}) * {taken}")
    if wire.constant or not terms:
        terms.append(f"+ UINT32_C({wire.constant % 2**32})")
    terms[0] = terms[0].removeprefix("+ ")
    if wire.bits == 32:
        return statement(f"{declared}signed32(", terms, ");")
    return statement(f"{declared}wrapped32(", terms, f", {wire.bits});")


def _call(block: int, wires: Sequence[int]) -> str:
    """Return the word of a table at the words of some wires; functions ignore bits above those of each word."""
    return f"block_{block}({', '.join(f'(uint32_t)w{wire}' for wire in wires)})"


def _product(wire: Product, word: Word, words: Sequence[Word], declared: str) -> str:
    left, right, block = wire.left, wire.right, wire.block
    how = word.arithmetic
    match wire.method:
        case "block":
            return f"    {declared}{_call(block, (left, right))};"
        case "native":
            terms = [" * ".join(_converted(f"w{each}", words[each].bits, how) for each in (left, right))]
        case "squares":
            pair = [f"block_{block}((uint32_t)w{left} {sign} (uint32_t)w{right})" for sign in "+-"]
            terms = [_converted(pair[0], 32, how), f"- {_converted(pair[1], 32, how)}"]
        case _:
            counts = [-(-words[each].expected.magnitude.bit_length() // wire.limb_bits) for each in (left, right)]
            # put together in 64 bits, modulo 2^64, where the sign is easy
            terms = [f"limbs_{block}(w{left}, {max(counts[0], 1)}, w{right}, {max(counts[1], 1)})"]
            how = Arithmetic(wide=True, modular=True, narrowed=word.bits == 32)
    return _rounded(declared, terms, wire.shift, how)


def _converted(taken: str, bits: int, how: Arithmetic) -> str:
    """Return a word of so many bits as an operand of the arithmetic."""
    if how.modular:
        return f"(uint{how.bits}_t){taken}"
    return taken if bits == how.bits else f"(int{how.bits}_t){taken}"


def _terms(each: Sum | Output, how: Arithmetic, words: Sequence[Word]) -> list[str]:
    """Return the terms of a sum, each of the type it is computed in."""
    terms = []
    for wire, factor in each.parts:
        sign = "-" if factor < 0 else "+"
        size = abs(factor)
        taken = _converted(f"w{wire}", words[wire].bits, how)
        product = taken if size == 1 else f"{integer(size, how.bits, how.modular)} * {taken}"
        terms.append(f"{sign} {product}")
    if each.constant or not terms:
        sign = "-" if each.constant < 0 else "+"
        terms.append(f"{sign} {integer(abs(each.constant), how.bits, how.modular)}")
    first = terms[0]
    terms[0] = first.removeprefix("+ ") if first.startswith("+ ") else f"-{first.removeprefix('- ')}"
    if how.modular and terms[0].startswith("-"):
        terms[0] = f"UINT{how.bits}_C(0) - {terms[0].removeprefix('-')}"
    return terms


def _rounded(declared: str, terms: list[str], shift: int, how: Arithmetic, after: str = "") -> str:
    """Return the statement that rounds a sum of terms and keeps it."""
    bits = how.bits
    if shift:
        terms = [*terms, f"+ {integer(1 << (shift - 1), bits, how.modular)}"]
    before, behind = declared, f"{after};"
    if how.narrowed:
        before, behind = f"{before}signed32((uint32_t)(", f")){behind}"
    elif how.wide and "int32_t w" in declared:
        before, behind = f"{before}(int32_t)(", f"){behind}"
    if shift:
        before, behind = f"{before}floor{bits}(", f", {shift}){behind}"
    if how.modular:
        before, behind = f"{before}signed{bits}(", f"){behind}"
    return statement(before, terms, behind)


def _output(k: int, output: Output, words: Sequence[Word], clamp: bool) -> str:
    how = sum_arithmetic(output, [(words[wire], factor) for wire, factor in output.parts], f"output {k}")
    if not Range(output.low, output.high).within(INT32):
        raise BddTorqueError(f"export, output {k} must have words of at most 32 bits")
    terms = _terms(output, how, words)
    start = Range(output.constant, output.constant)
    certain = sum((words[wire].certain * factor for wire, factor in output.parts), start=start).rounded(output.shift)
    if not (clamp or how.modular) and certain.within(Range(output.low, output.high)):
        before, after = ("(int32_t)(", ")") if how.wide else ("", "")
        return _rounded(f"tau[{k}] = {before}", terms, output.shift, how, after)
    ends = f"{integer(output.low, how.bits)}, {integer(output.high, how.bits)}"
    kept = "(int32_t)" if how.wide else ""
    return _rounded(f"tau[{k}] = {kept}clamped{how.bits}(", terms, output.shift, how, f", {ends})")
