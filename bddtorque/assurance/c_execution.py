"""Exported C as bit-vectors: what its integer code computes, as terms of SMT-LIB.

Only what exported code is made of is understood, and everything else refused: integers of 8 to 64 bits with C's own
conversions (an `int` has 32 bits, or 16 on chips of 8 bits), assignments, calls, `if`, and loops whose number of turns
is a constant. Signed numbers wrap here; that C's do not overflow is for others to show (docs/assurance.md, Frama-C).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from bddtorque.base.errors import BddTorqueError

MOST_TURNS = 4096
TYPES = {
    "int8_t": (8, True), "int16_t": (16, True), "int32_t": (32, True), "int64_t": (64, True),
    "uint8_t": (8, False), "uint16_t": (16, False), "uint32_t": (32, False), "uint64_t": (64, False),
}  # fmt: skip


@dataclass(frozen=True)
class Word:
    """A C integer: its term, its bits, whether it is signed, and its value where that is a constant."""

    term: str
    bits: int
    signed: bool
    value: int | None = None

    def as_type(self, bits: int, signed: bool) -> Word:
        """Return the number converted to a type, modulo 2^bits."""
        if self.value is not None:
            return constant(self.value, bits, signed)
        if bits < self.bits:
            return Word(f"((_ extract {bits - 1} 0) {self.term})", bits, signed)
        if bits > self.bits:
            extend = "sign_extend" if self.signed else "zero_extend"
            return Word(f"((_ {extend} {bits - self.bits}) {self.term})", bits, signed)
        return Word(self.term, bits, signed)


def constant(value: int, bits: int, signed: bool) -> Word:
    """Return a constant of a type."""
    inside = value % (1 << bits)
    number = inside - (1 << bits) if signed and inside >> (bits - 1) else inside
    return Word(f"(_ bv{inside} {bits})", bits, signed, number)


def is_set(word: Word) -> str:
    """Return the condition that a number is not 0."""
    return f"(distinct {word.term} (_ bv0 {word.bits}))"


def chosen(condition: str, yes: Word, no: Word) -> Word:
    """Return one of two numbers of a type."""
    if yes == no:
        return yes
    return Word(f"(ite {condition} {yes.term} {no.term})", yes.bits, yes.signed)


def _merged(condition: str, yes: list[Any], no: list[Any]) -> list[Any]:
    """Return an array after an `if`; what only one way has written is not there to be read."""
    pairs = zip_longest(yes, no)
    return [None if a is None or b is None else chosen(condition, a, b) for a, b in pairs]


def plain_source(header: str, text: str) -> str:
    """Return exported C without comments, directives and the words of its tables: what there is to parse."""
    sizes = dict(re.findall(r"^#define (\w+_(?:JOINTS|INPUTS|OUTPUTS|WORDS)) (\d+)$", header, re.MULTILINE))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\] = \{[^{}]*\};", "];", text)
    text = text.replace("BDDTORQUE_INLINE", "static inline").replace("BDDTORQUE_ROM", "").replace("BDDTORQUE_RARE", "")
    for name, suffix in (("UINT32_C", "ul"), ("INT32_C", "l"), ("UINT64_C", "ull"), ("INT64_C", "ll")):
        text = re.sub(rf"\b{name}\((\d+)\)", rf"\g<1>{suffix}", text)
    for name, size in sizes.items():
        text = re.sub(rf"\b{name}\b", size, text)
    types = "".join(
        f"typedef {'' if signed else 'unsigned '}{'long long' if bits == 64 else 'int'} {name};\n"
        for name, (bits, signed) in TYPES.items()
    )
    return f"{types}typedef int int_fast16_t;\ntypedef unsigned int uint_fast16_t;\n{text}"


class CExecution:
    """Runs functions of a C file on terms.

    `calls` answers calls by the name of the function instead of running it; `declared` is told of every variable that
    the outermost function declares with a value, and may put another in its place. An `int` has `int_bits`.
    """

    def __init__(self, tree: Any, int_bits: int) -> None:
        self.int_bits = int_bits
        self.types = {
            **TYPES,
            "int": (int_bits, True),
            "int_fast16_t": (int_bits, True),
            "uint_fast16_t": (int_bits, False),
        }
        self.functions = {each.decl.name: each for each in tree.ext if type(each).__name__ == "FuncDef"}
        self.calls: dict[str, Callable[[Sequence[Word]], Word]] = {}
        self.declared: Callable[[str, Word], Word] = lambda name, word: word
        self.depth = 0
        self.word_type = "int32_t"
        """Of the words in all arrays."""

    def take_word_type(self, function: str) -> int:
        """Take the words in all arrays to be as those that a function is given; return their bits."""
        parameters = self._function(function).decl.type.args.params
        (self.word_type,) = {name for each in parameters for name in each.type.type.type.names}
        return self.types[self.word_type][0]

    def _function(self, name: str) -> Any:
        if name not in self.functions:
            raise BddTorqueError(f"C: there is no function '{name}'")
        return self.functions[name]

    def run(self, name: str, arguments: Sequence[Any]) -> Any:
        """Return what a function returns for arguments: words, or lists of words for arrays."""
        function = self._function(name)
        scope: dict[str, Any] = {}
        parameters = function.decl.type.args.params
        for parameter, argument in zip(parameters, arguments, strict=True):
            kind = self._type_of(parameter.type)
            scope[parameter.name] = argument if kind is None else argument.as_type(*kind)
        returned = self._type_of(function.decl.type.type)
        self.depth += 1
        result = self._block(function.body, scope)
        self.depth -= 1
        if returned is None or result is None:
            raise BddTorqueError(f"C: function '{name}' must return a number at its end")
        return result.as_type(*returned)

    def _block(self, block: Any, scope: dict[str, Any]) -> Word | None:
        for statement in block.block_items or ():
            result = self._statement(statement, scope)
            if result is not None:
                return result
        return None

    def _statement(self, node: Any, scope: dict[str, Any]) -> Word | None:
        match type(node).__name__:
            case "Decl":
                self._declare(node, scope)
            case "Return":
                return self._word(node.expr, scope)
            case "Assignment":
                self._assign(node, scope)
            case "UnaryOp" if node.op in ("p++", "++"):
                scope[node.expr.name] = self._binary("+", scope[node.expr.name], self._int(1))
            case "Cast" if node.to_type.type.type.names == ["void"]:
                if type(node.expr).__name__ != "ID":  # which says that an argument is not used
                    self._call(node.expr, scope)
            case "If" if node.iffalse is None:
                self._choose(node, scope)
            case "For":
                self._loop(node, scope)
            case kind:
                raise BddTorqueError(f"C: a statement of kind {kind} is not understood (line {node.coord})")
        return None

    def _declare(self, node: Any, scope: dict[str, Any]) -> None:
        kind = self._type_of(node.type)
        if type(node.type).__name__ == "ArrayDecl":
            scope[node.name] = [None] * int(node.type.dim.value)
        elif kind is None:  # a pointer
            scope[node.name] = self._place(node.init, scope)
        elif node.init is not None:
            word = self._word(node.init, scope).as_type(*kind)
            scope[node.name] = self.declared(node.name, word) if self.depth == 1 else word

    def _assign(self, node: Any, scope: dict[str, Any]) -> None:
        target = node.lvalue
        if type(target).__name__ == "ArrayRef":
            index = self._word(target.subscript, scope).value
            held = scope[target.name.name]
            if index is None or not 0 <= index < len(held):
                raise BddTorqueError(f"C: an index must be a constant within its array (line {node.coord})")
            word = self._word(node.rvalue, scope).as_type(*self.types[self.word_type])
            name = f"{target.name.name}[{index}]"
            held[index] = self.declared(name, word) if self.depth == 1 else word
            return
        old = scope.get(target.name)
        if isinstance(old, list):
            scope[target.name] = self._place(node.rvalue, scope)
            return
        new = self._word(node.rvalue, scope)
        if not isinstance(old, Word):  # declared without a value, as counters are
            scope[target.name] = new.as_type(32, False)
            return
        if node.op != "=":
            new = self._binary(node.op[:-1], old, new)
        scope[target.name] = new.as_type(old.bits, old.signed)

    def _choose(self, node: Any, scope: dict[str, Any]) -> None:
        """Run both ways and join what they leave behind."""
        condition = is_set(self._word(node.cond, scope))
        copies = {id(held): list(held) for held in scope.values() if isinstance(held, list)}
        other = {name: copies.get(id(held), held) for name, held in scope.items()}
        if self._block(node.iftrue, other) is not None:
            raise BddTorqueError(f"C: a return inside of an if is not understood (line {node.coord})")
        pointed = [
            name for name, held in scope.items() if isinstance(held, list) and other[name] is not copies[id(held)]
        ]
        moved = {name: _merged(condition, other[name], scope[name]) for name in pointed}
        for held in {id(each): each for each in scope.values() if isinstance(each, list)}.values():
            held[:] = _merged(condition, copies[id(held)], held)
        for name, held in scope.items():
            if not isinstance(held, list):
                scope[name] = chosen(condition, other[name], held)
        scope |= moved

    def _loop(self, node: Any, scope: dict[str, Any]) -> None:
        self._statement(node.init, scope)
        for _ in range(MOST_TURNS):
            going = self._word(node.cond, scope)
            if going.value is None:
                raise BddTorqueError(f"C: the turns of a loop must be a constant (line {node.coord})")
            if not going.value:
                return
            self._block(node.stmt, scope)
            self._statement(node.next, scope)
        raise BddTorqueError(f"C: a loop takes more than {MOST_TURNS} turns (line {node.coord})")

    def _place(self, node: Any, scope: dict[str, Any]) -> list[Any]:
        """Return the array that an expression points to the beginning of."""
        kind = type(node).__name__
        if kind == "ID" and isinstance(scope.get(node.name), list):
            return scope[node.name]  # type: ignore[no-any-return]
        raise BddTorqueError(f"C: a pointer of kind {kind} is not understood (line {node.coord})")

    def _word(self, node: Any, scope: dict[str, Any]) -> Word:
        match type(node).__name__:
            case "Constant":
                return self._literal(node.value)
            case "ID" if isinstance(scope.get(node.name), Word):
                return scope[node.name]  # type: ignore[no-any-return]
            case "Cast":
                kind = self._type_of(node.to_type.type)
                if kind is not None:
                    return self._word(node.expr, scope).as_type(*kind)
            case "BinaryOp":
                return self._binary(node.op, self._word(node.left, scope), self._word(node.right, scope))
            case "UnaryOp" if node.op in ("-", "~"):
                word = self._promoted(self._word(node.expr, scope))
                if word.value is not None:
                    return constant(-word.value if node.op == "-" else ~word.value, word.bits, word.signed)
                return Word(f"({'bvneg' if node.op == '-' else 'bvnot'} {word.term})", word.bits, word.signed)
            case "TernaryOp":
                condition = is_set(self._word(node.cond, scope))
                yes, no = self._joined(self._word(node.iftrue, scope), self._word(node.iffalse, scope))
                return chosen(condition, yes, no)
            case "ArrayRef":
                index = self._word(node.subscript, scope).value
                held = self._place(node.name, scope)
                if index is not None and 0 <= index < len(held) and held[index] is not None:
                    return held[index]  # type: ignore[no-any-return]
            case "FuncCall":
                return self._call(node, scope)
        raise BddTorqueError(f"C: an expression of kind {type(node).__name__} is not understood (line {node.coord})")

    def _call(self, node: Any, scope: dict[str, Any]) -> Word:
        name, given = node.name.name, node.args.exprs
        if name in self.calls:
            return self.calls[name]([self._word(each, scope) for each in given])
        parameters = self.functions[name].decl.type.args.params if name in self.functions else ()
        arguments: list[Any] = []
        parts: dict[tuple[str, int], list[Any]] = {}
        """By array and first index: the rest of the array, which the function may write to."""
        for each, parameter in zip(given, parameters, strict=False):
            if self._type_of(parameter.type) is not None:
                arguments.append(self._word(each, scope))
            elif type(each).__name__ == "UnaryOp" and each.op == "&" and type(each.expr).__name__ == "ArrayRef":
                array, first = each.expr.name.name, self._word(each.expr.subscript, scope).value
                if first is None or not isinstance(scope.get(array), list):
                    raise BddTorqueError(f"C: a place in an array must be a constant one (line {node.coord})")
                arguments.append(parts.setdefault((array, first), scope[array][first:]))
            else:
                arguments.append(self._place(each, scope))
        if len({array for array, _ in parts}) < len(parts):
            raise BddTorqueError(f"C: two places in one array are not understood (line {node.coord})")
        result: Word = self.run(name, arguments)
        for (array, first), part in parts.items():
            scope[array][first:] = part
        return result

    def _binary(self, op: str, left: Word, right: Word) -> Word:
        if op in ("<<", ">>"):  # each side is promoted by itself
            return _shifted(op, self._promoted(left), right)
        a, b = self._joined(left, right)
        kind = (a.bits, a.signed)
        if a.value is not None and b.value is not None:
            return self._computed(op, a, b)
        known = {"+": "bvadd", "-": "bvsub", "*": "bvmul", "&": "bvand", "|": "bvor", "^": "bvxor"}
        if op in known:
            return Word(f"({known[op]} {a.term} {b.term})", *kind)
        ordered = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
        if op in ordered:
            return self._truth(f"(bv{'s' if a.signed else 'u'}{ordered[op]} {a.term} {b.term})")
        if op in ("==", "!="):
            return self._truth(f"({'=' if op == '==' else 'distinct'} {a.term} {b.term})")
        if op == "/":
            return Word(f"(bv{'s' if a.signed else 'u'}div {a.term} {b.term})", *kind)
        raise BddTorqueError(f"C: the operator {op} is not understood")

    def _computed(self, op: str, a: Word, b: Word) -> Word:
        assert a.value is not None and b.value is not None
        if op in ("<", "<=", ">", ">=", "==", "!="):
            held = {"<": a.value < b.value, "<=": a.value <= b.value, ">": a.value > b.value, ">=": a.value >= b.value}
            return self._int(int(held.get(op, (a.value == b.value) == (op == "=="))))
        values = {"+": a.value + b.value, "-": a.value - b.value, "*": a.value * b.value}
        values |= {"&": a.value & b.value, "|": a.value | b.value, "^": a.value ^ b.value}
        if op not in values:
            raise BddTorqueError(f"C: the operator {op} between constants is not understood")
        return constant(values[op], a.bits, a.signed)

    def _int(self, value: int) -> Word:
        return constant(value, self.int_bits, True)

    def _truth(self, condition: str) -> Word:
        """Return 1 or 0, an `int`, for a condition."""
        return Word(f"(ite {condition} {self._int(1).term} {self._int(0).term})", self.int_bits, True)

    def _promoted(self, word: Word) -> Word:
        return word.as_type(self.int_bits, True) if word.bits < self.int_bits else word

    def _joined(self, left: Word, right: Word) -> tuple[Word, Word]:
        """Return both in the type that C computes with."""
        left, right = self._promoted(left), self._promoted(right)
        bits = max(left.bits, right.bits)
        signed = all(each.signed for each in (left, right) if each.bits == bits)
        return left.as_type(bits, signed), right.as_type(bits, signed)

    def _literal(self, text: str) -> Word:
        match = re.fullmatch(r"(\d+|0x[0-9a-fA-F]+)([uUlL]*)", text)
        if match is None:
            raise BddTorqueError(f"C: the constant {text} is not understood")
        value, suffix = int(match[1], 0), match[2].lower()
        signed = "u" not in suffix
        least = 64 if "ll" in suffix else 32 if "l" in suffix else self.int_bits
        return constant(value, next(bits for bits in (least, 32, 64) if value >> (bits - signed) == 0), signed)

    def _type_of(self, node: Any) -> tuple[int, bool] | None:
        """Return bits and sign of a type; nothing for arrays and pointers."""
        if type(node).__name__ != "TypeDecl":
            (name,) = node.type.type.names
            if name != self.word_type:
                raise BddTorqueError(f"C: an array of {name} is not understood, others are of {self.word_type}")
            return None
        (name,) = node.type.names
        if name not in self.types:
            raise BddTorqueError(f"C: the type {name} is not understood")
        return self.types[name]


def _shifted(op: str, word: Word, by: Word) -> Word:
    if by.value is None or not 0 <= by.value < word.bits:
        raise BddTorqueError("C: a shift must be by a constant within the word")
    if word.value is not None:
        return constant(word.value << by.value if op == "<<" else word.value >> by.value, word.bits, word.signed)
    kind = "bvshl" if op == "<<" else "bvashr" if word.signed else "bvlshr"
    return Word(f"({kind} {word.term} (_ bv{by.value} {word.bits}))", word.bits, word.signed)
