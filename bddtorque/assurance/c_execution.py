"""Exported C as bit-vectors: what its integer code computes, as terms of SMT-LIB.

Only what exported code is made of is understood, and everything else refused by name: integers of 8 to 64 bits with
C's own conversions (an `int` has 32 bits, or 16 on chips of 8 bits), assignments, calls, `if` without `else`, and loops
whose number of turns is a constant. Signed numbers wrap here; that C's do not overflow is for others to show
(docs/assurance.md, Frama-C).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import zip_longest
from typing import Any

from bddtorque.assurance.bit_vectors import (
    FAST,
    TYPES,
    CArithmetic,
    CWord,
    chosen,
    constant,
    is_set,
    load_module,
    refusal,
)
from bddtorque.base.errors import BddTorqueError

MAX_TURNS = 4096
MAX_WORDS = 4096
"""Of an array in a function."""
MAX_CALLS = 10
"""Of functions that call one another."""
CONSTANTS = {"INT32_C": (32, True), "UINT32_C": (32, False), "INT64_C": (64, True), "UINT64_C": (64, False)}
"""Macros of <stdint.h>, and the types of their constants."""


def _merged(condition: str, yes: list[Any], no: list[Any]) -> list[Any]:
    """Return an array after an `if`; what only one way has written is not there to be read."""
    pairs = zip_longest(yes, no)
    return [None if a is None or b is None else chosen(condition, a, b) for a, b in pairs]


def parse_c(name: str, text: str) -> Any:
    """Return the syntax tree of C without directives and comments."""
    parser = load_module("pycparser.c_parser")
    types = "".join(f"typedef int {each}; " for each in (*TYPES, *FAST))
    try:
        return parser.CParser().parse(types + text, name)
    except parser.ParseError as problem:
        place = re.match(r".*?:(\d+):(?:\d+:)? *(.*)", str(problem))
        said = f"{name}, line {place[1]}: {place[2]}" if place else f"{name}: {problem}"
        raise BddTorqueError(f"{said}: that is not the C that export_c writes: export again") from None
    except RecursionError:
        raise BddTorqueError(f"{name}: C that is nested so deeply is not understood") from None


class CExecution:
    """Runs functions of a C file on terms.

    `calls` answers calls by the name of the function instead of running it; the arguments are not yet converted to the
    types of its parameters. `declared` is told of every variable that the outermost function declares with a value, and
    may put another in its place. An `int` has `int_bits`, and all arrays are of one of `word_types`.

    A scope holds what names stand for: words, and lists of words for arrays and for pointers to their beginning.
    """

    def __init__(self, tree: Any, int_bits: int, word_types: Collection[str]) -> None:
        self.arithmetic, self.word_types = CArithmetic(int_bits), word_types
        self.types = {**TYPES, "int": (int_bits, True)} | {name: (int_bits, signed) for name, signed in FAST.items()}
        self.functions = {each.decl.name: each for each in tree.ext if _kind(each) == "FuncDef"}
        self.calls: dict[str, Callable[[Sequence[CWord]], CWord]] = {}
        self.declared: Callable[[str, CWord], CWord] = lambda name, word: word
        self.depth = 0
        self.elements: list[tuple[list[Any], tuple[int, bool]]] = []
        """Arrays, and the types of their words: bits, and whether they are signed."""
        self.kept: list[list[Any]] = []
        """Arrays that an `if` has set a pointer to, and what it points to since: a copy, so that none may change."""

    def run(self, name: str, arguments: Sequence[Any]) -> Any:
        """Return what a function returns for arguments: words, or lists of words for arrays."""
        if name not in self.functions:
            raise BddTorqueError(f"C: there is no function '{name}'")
        function = self.functions[name]
        if self.depth > MAX_CALLS:
            raise refusal(function.decl, f"function '{name}' calls itself, which is not understood")
        scope: dict[str, Any] = {}
        for parameter, argument in zip(function.decl.type.args.params, arguments, strict=True):
            kind = self._type_of(parameter.type, parameter)
            scope[parameter.name] = argument if kind is None else argument.as_type(*kind)
            if kind is None:
                self.elements.append((argument, self.types[_type_name(parameter.type.type)]))
        returned = self._type_of(function.decl.type.type, function)
        self.depth += 1
        result = self._block(function.body, scope)
        self.depth -= 1
        if returned is None or result is None:
            raise refusal(function.decl, f"function '{name}' must return a number at its end")
        return result.as_type(*returned)

    def _block(self, block: Any, scope: dict[str, Any]) -> CWord | None:
        """Run the statements in braces, and forget the names that they declare; return what they return."""
        if _kind(block) != "Compound":
            raise refusal(block, "a statement without braces after 'if' or 'for' is not understood")
        outer = set(scope)
        for statement in block.block_items or ():
            result = self._statement(statement, scope)
            if result is not None:
                return result
        for name in scope.keys() - outer:
            del scope[name]
        return None

    def _statement(self, node: Any, scope: dict[str, Any]) -> CWord | None:
        match _kind(node):
            case "Decl":
                self._declare(node, scope)
            case "Return" if node.expr is not None:
                return self._word(node.expr, scope)
            case "Assignment":
                self._assign(node, scope)
            case "UnaryOp" if node.op == "p++" and _kind(node.expr) == "ID":
                old = self._word(node.expr, scope)
                scope[node.expr.name] = self.arithmetic.binary("+", old, self.arithmetic.integer(1), node).as_type(
                    old.bits, old.signed
                )
            case "Cast" if _type_name(node.to_type.type) == "void":
                if _kind(node.expr) == "FuncCall":
                    self._call(node.expr, scope, statement=True)
                elif _kind(node.expr) != "ID":  # which says that an argument is not used
                    raise refusal(node, "(void) must be before a call or an argument")
            case "If" if node.iffalse is None:
                self._choose(node, scope)
            case "For":
                self._loop(node, scope)
            case kind:
                raise refusal(node, f"a statement of kind {kind} is not understood")
        return None

    def _declare(self, node: Any, scope: dict[str, Any]) -> None:
        kind = self._type_of(node.type, node)
        if node.name in scope:
            raise refusal(node, f"a second variable '{node.name}' in the same or an inner block is not understood")
        if node.storage or node.funcspec or node.align or node.bitsize or not {*node.quals} <= {"const"}:
            raise refusal(node, f"variable '{node.name}' must be plain or const")
        if _kind(node.type) == "ArrayDecl":
            size = self._word(node.type.dim, {}).value if node.type.dim is not None and node.init is None else None
            if not size or size > MAX_WORDS:
                raise refusal(node, f"array '{node.name}' must have a constant size up to {MAX_WORDS}, and no values")
            scope[node.name] = [None] * size
            self.elements.append((scope[node.name], self.types[_type_name(node.type.type)]))
        elif kind is None:
            scope[node.name] = self._place(node.init or node, scope)
        elif node.init is None:
            scope[node.name] = CWord("", *kind)
        else:
            word = self._word(node.init, scope).as_type(*kind)
            scope[node.name] = self.declared(node.name, word) if self.depth == 1 else word

    def _assign(self, node: Any, scope: dict[str, Any]) -> None:
        target, old = node.lvalue, None
        if _kind(target) == "ID":
            old = scope.get(target.name)
            if isinstance(old, list) and node.op == "=":
                scope[target.name] = self._place(node.rvalue, scope)
                return
        call = _kind(node.rvalue) == "FuncCall"
        new = self._call(node.rvalue, scope, statement=True) if call else self._word(node.rvalue, scope)
        if isinstance(old, CWord):
            if node.op != "=":
                new = self.arithmetic.binary(node.op[:-1], self._word(target, scope), new, node)
            scope[target.name] = new.as_type(old.bits, old.signed)
        elif _kind(target) == "ArrayRef" and node.op == "=":
            held, index = self._element(target, scope)
            name, word = f"{target.name.name}[{index}]", new.as_type(*self._kind_of(held))
            self._write(held, index, [self.declared(name, word) if self.depth == 1 else word], node)
        else:
            raise refusal(node, f"an assignment by '{node.op}' to this is not understood")

    def _write(self, held: list[Any], first: int, words: list[Any], node: Any) -> None:
        """Put words into an array, from an index on."""
        if any(held is each for each in self.kept) and held[first : first + len(words)] != words:
            raise refusal(node, "writing to an array is not understood after a pointer was set to it in an if")
        held[first : first + len(words)] = words

    def _kind_of(self, held: list[Any]) -> tuple[int, bool]:
        """Return bits and sign of the words of an array."""
        kinds: dict[int, tuple[int, bool]] = {id(array): kind for array, kind in self.elements}
        return kinds[id(held)]

    def _choose(self, node: Any, scope: dict[str, Any]) -> None:
        """Run both ways and join what they leave behind."""
        condition = is_set(self._word(node.cond, scope))
        copies = {id(held): list(held) for held in scope.values() if isinstance(held, list)}
        self.elements += [(copies[id(held)], kind) for held, kind in self.elements if id(held) in copies]
        self.kept += [copies[id(held)] for held in self.kept if id(held) in copies]
        other = {name: copies.get(id(held), held) for name, held in scope.items()}
        if self._block(node.iftrue, other) is not None:
            raise refusal(node, "a return inside of an if is not understood")
        arrays = {id(held): held for held in scope.values() if isinstance(held, list)}
        moved: dict[str, list[Any]] = {}
        kept: list[list[Any]] = []
        for name, held in scope.items():
            if isinstance(held, list) and other[name] is not copies[id(held)]:
                moved[name] = _merged(condition, other[name], held)
                self.elements.append((moved[name], self._kind_of(held)))
                kept += [moved[name], held, *(each for each in arrays.values() if copies[id(each)] is other[name])]
        for held in arrays.values():
            self._write(held, 0, _merged(condition, copies[id(held)], held), node)
        self.kept += kept
        for name, held in scope.items():
            if not isinstance(held, list):
                scope[name] = chosen(condition, other[name], held)
        scope |= moved

    def _loop(self, node: Any, scope: dict[str, Any]) -> None:
        if node.init is None or node.cond is None or node.next is None:
            raise refusal(node, "a loop must have a start, a condition and a step")
        self._statement(node.init, scope)
        for _ in range(MAX_TURNS):
            going = self._word(node.cond, scope)
            if going.value is None:
                raise refusal(node, "the turns of a loop must be a constant")
            if not going.value:
                return
            if self._block(node.stmt, scope) is not None:
                raise refusal(node, "a return inside of a loop is not understood")
            self._statement(node.next, scope)
        raise refusal(node, f"a loop takes more than {MAX_TURNS} turns")

    def _place(self, node: Any, scope: dict[str, Any]) -> list[Any]:
        """Return the array that an expression points to the beginning of."""
        if _kind(node) == "ID" and isinstance(scope.get(node.name), list):
            return scope[node.name]  # type: ignore[no-any-return]
        raise refusal(node, f"a pointer of kind {_kind(node)} is not understood")

    def _element(self, node: Any, scope: dict[str, Any]) -> tuple[list[Any], int]:
        """Return the array and the index of an expression such as q[1]."""
        held, index = self._place(node.name, scope), self._word(node.subscript, scope).value
        if index is None or not 0 <= index < len(held):
            raise refusal(node, "an index must be a constant within its array")
        return held, index

    def _word(self, node: Any, scope: dict[str, Any]) -> CWord:
        match _kind(node):
            case "Constant":
                return self._literal(node)
            case "ID" if isinstance(scope.get(node.name), CWord) and scope[node.name].term:
                return scope[node.name]  # type: ignore[no-any-return]
            case "Cast":
                kind = self._type_of(node.to_type.type, node)
                if kind is not None:
                    return self._word(node.expr, scope).as_type(*kind)
            case "BinaryOp":
                return self.arithmetic.binary(
                    node.op, self._word(node.left, scope), self._word(node.right, scope), node
                )
            case "UnaryOp" if node.op in ("-", "~"):
                word = self.arithmetic.promoted(self._word(node.expr, scope))
                if word.value is not None:
                    return constant(-word.value if node.op == "-" else ~word.value, word.bits, word.signed)
                return CWord(f"({'bvneg' if node.op == '-' else 'bvnot'} {word.term})", word.bits, word.signed)
            case "TernaryOp":
                condition = is_set(self._word(node.cond, scope))
                yes, no = self.arithmetic.joined(self._word(node.iftrue, scope), self._word(node.iffalse, scope))
                return chosen(condition, yes, no)
            case "ArrayRef":
                held, index = self._element(node, scope)
                if held[index] is not None:
                    return held[index]  # type: ignore[no-any-return]
            case "FuncCall":
                return self._call(node, scope)
        named = f" ('{node.name}')" if _kind(node) == "ID" else ""
        raise refusal(node, f"an expression of kind {_kind(node)}{named} is not understood, or has no value yet")

    def _call(self, node: Any, scope: dict[str, Any], statement: bool = False) -> CWord:
        """Return what a call returns; only one that is a statement of its own may write to arrays."""
        name, given = getattr(node.name, "name", "a pointer"), node.args.exprs if node.args else ()
        if name in CONSTANTS:
            return _sized_constant(node, *CONSTANTS[name])
        if name not in self.functions:
            raise refusal(node, f"a call of '{name}' is not understood")
        parameters = self.functions[name].decl.type.args.params
        if len(parameters) != len(given):
            raise refusal(node, f"'{name}' takes {len(parameters)} arguments, found {len(given)}")
        arguments: list[Any] = []
        parts: dict[tuple[int, int], tuple[list[Any], list[Any]]] = {}
        """By array and first index: the array, and its rest, which the function may write to."""
        for each, parameter in zip(given, parameters, strict=True):
            kind = self._type_of(parameter.type, parameter)
            if kind is not None:
                arguments.append(self._word(each, scope))
                continue
            if not statement or _kind(each) != "UnaryOp" or each.op != "&" or _kind(each.expr) != "ArrayRef":
                raise refusal(node, f"'{name}' must be a statement of its own, and be given places such as &q[0]")
            held, first = self._element(each.expr, scope)
            arguments.append(parts.setdefault((id(held), first), (held, held[first:]))[1])
        if name in self.calls:
            return self.calls[name](arguments)
        if len({array for array, _ in parts}) < len(parts):
            raise refusal(node, "two places in one array are not understood")
        result: CWord = self.run(name, arguments)
        for (_, first), (held, part) in parts.items():
            self._write(held, first, part, node)
        return result

    def _literal(self, node: Any) -> CWord:
        match = re.fullmatch(r"(0|[1-9][0-9]{0,18})(u?)", node.value)
        if match is None:
            raise refusal(node, f"the constant {node.value} is not understood: it must be decimal, with or without u")
        value, signed = int(match[1]), not match[2]
        return constant(
            value, next(bits for bits in (self.arithmetic.int_bits, 32, 64) if not value >> (bits - signed)), signed
        )

    def _type_of(self, node: Any, of: Any) -> tuple[int, bool] | None:
        """Return bits and sign of the type of something; nothing for arrays and pointers."""
        if _kind(node) in ("ArrayDecl", "PtrDecl"):
            name = _type_name(node.type)
            if name not in self.word_types:
                raise refusal(of, f"an array of {name} is not understood, others are of {' or '.join(self.word_types)}")
            return None
        name = _type_name(node)
        if name not in self.types:
            raise refusal(of, f"the type '{name}' is not understood")
        return self.types[name]


def _kind(node: Any) -> str:
    return type(node).__name__


def _type_name(node: Any) -> str:
    """Return the name of a type that is no array, pointer or function, such as ``int32_t``."""
    plain = _kind(node) == "TypeDecl" and _kind(node.type) == "IdentifierType"
    return " ".join(node.type.names) if plain else _kind(node)


def _sized_constant(node: Any, bits: int, signed: bool) -> CWord:
    """Return a constant such as UINT32_C(5)."""
    (digits,) = node.args.exprs if node.args and len(node.args.exprs) == 1 else (None,)
    value = getattr(digits, "value", "")
    if not re.fullmatch(r"0|[1-9][0-9]{0,19}", value) or int(value) >> (bits - signed):
        raise refusal(node, f"{node.name.name} must be of one decimal constant that fits {bits} bits")
    return constant(int(value), bits, signed)
