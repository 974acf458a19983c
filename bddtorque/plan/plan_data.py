"""Plans from plain data: every reference is checked, so that no plan from a file can lead a reader astray."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bddtorque.base.errors import BddTorqueError, not_among, unknown
from bddtorque.base.plain import choice, fraction, listed, of_type, real, table, whole
from bddtorque.dynamics.graph import OPERANDS, Graph, Node, Op
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, LawBlock, ProductBlock, SquareBlock, output_format
from bddtorque.plan.plan import MOST_BITS, MOST_TABLE_BITS, Plan, check_widths
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum, Wire
from bddtorque.words.argument import Argument
from bddtorque.words.law_data import law_from_plain

MOST = 1 << MOST_BITS
"""No word, factor or constant of a sound plan is beyond it."""
LARGEST_SHIFT = MOST_BITS


def plan_from_plain(plain: object, where: str = "plan") -> Plan:
    """Return the plan that `Plan.to_plain` wrote."""
    given = table(plain, ("source", "target", "block_bits", "wires", "blocks", "outputs"), where)
    blocks = tuple(
        block_from_plain(each, f"{where}, block {k}") for k, each in enumerate(listed(given["blocks"], where))
    )
    wires: list[Wire] = []
    for k, each in enumerate(listed(given["wires"], where)):
        wires.append(wire_from_plain(each, k, blocks, f"{where}, wire {k}"))
    plan = Plan(
        tuple(wires),
        blocks,
        tuple(
            _output(each, len(wires), f"{where}, output {k}") for k, each in enumerate(listed(given["outputs"], where))
        ),
        of_type(given["source"], str, f"{where}, source"),
        choice(given["target"], ("tables", "integer"), f"{where}, target"),
        whole(given["block_bits"], 1, 64, f"{where}, block_bits"),
    )
    for k, wire in enumerate(wires):
        if isinstance(wire, Product) and (wire.method == "native") != (plan.target == "integer"):
            raise BddTorqueError(f"{where}, wire {k}: target '{plan.target}' does not multiply by '{wire.method}'")
    check_widths(plan, where)
    return plan


def wire_from_plain(plain: object, place: int, blocks: tuple[Block, ...], where: str) -> Wire:
    """Return the wire that its `to_plain` wrote; it may read only those before `place`."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    match kind:
        case "input":
            given = table(plain, ("kind", "name", "bits", "wraps"), where)
            wraps = of_type(given["wraps"], bool, f"{where}, wraps")
            return Input(_name(given, where), whole(given["bits"], 1, 32, where), wraps)
        case "angle_sum":
            given = table(plain, ("kind", "name", "bits", "parts", "constant"), where)
            parts = []
            for part in listed(given["parts"], where):
                wire, multiplier, shift = listed(part, where, 3)
                parts.append((_at(wire, place, where), whole(multiplier, -64, 64, where), whole(shift, 0, 32, where)))
            constant = whole(given["constant"], -(2**32), 2**32, where)
            return AngleSum(_name(given, where), whole(given["bits"], 1, 32, where), tuple(parts), constant)
        case "lookup":
            given = table(plain, ("kind", "name", "block", "wires"), where)
            block = _at(given["block"], len(blocks), where)
            sources = listed(given["wires"], where, len(blocks[block].input_widths))
            return Lookup(_name(given, where), block, tuple(_at(each, place, where) for each in sources))
        case "product":
            return _product(plain, place, blocks, where)
        case "sum":
            keys = ("kind", "name", "parts", "constant", "shift", "low", "high", "lsb", "constant_error", "dropped")
            given = table(plain, keys, where)
            return Sum(
                _name(given, where),
                _parts(given["parts"], place, where),
                whole(given["constant"], -MOST, MOST, where),
                whole(given["shift"], 0, LARGEST_SHIFT, where),
                *_ends(given, where),
                fraction(given["lsb"], where),
                fraction(given["constant_error"], where),
                fraction(given["dropped"], where),
            )
    raise BddTorqueError(not_among(f"{where}, kind", kind, ("input", "angle_sum", "lookup", "product", "sum")))


def _product(plain: object, place: int, blocks: tuple[Block, ...], where: str) -> Product:
    keys = ("kind", "name", "left", "right", "shift", "method", "block", "limb_bits", "low", "high")
    given = table(plain, keys, where)
    native = given["method"] == "native"
    block = whole(given["block"], -1, -1, where) if native else _at(given["block"], len(blocks), where)
    limb = whole(given["limb_bits"], 0, 26, where)
    shift = whole(given["shift"], 0, LARGEST_SHIFT, where)
    table_of = None if native else blocks[block]
    match given["method"]:
        case "block":
            fits = isinstance(table_of, ProductBlock) and table_of.signed and table_of.shift == shift and not limb
        case "limbs":
            fits = limb > 0 and table_of == ProductBlock.of_limbs(limb)
        case "squares":
            fits = isinstance(table_of, SquareBlock) and not limb
        case "native":
            fits = not limb
        case _:
            fits = False
    if not fits:
        raise BddTorqueError(f"{where}: method {given['method']!r:.40} does not multiply with block {block}")
    return Product(
        _name(given, where),
        _at(given["left"], place, where),
        _at(given["right"], place, where),
        shift,
        given["method"],
        block,
        limb,
        *_ends(given, where),
    )


def _parts(plain: object, wires: int, where: str) -> tuple[tuple[int, int], ...]:
    parts = []
    for part in listed(plain, where):
        wire, factor = listed(part, where, 2)
        parts.append((_at(wire, wires, where), whole(factor, -MOST, MOST, where)))
    return tuple(parts)


def block_from_plain(plain: object, where: str) -> Block:
    """Return the block that its `to_plain` wrote."""
    kind = plain.get("kind") if isinstance(plain, dict) else None
    block: Block
    if kind == "square":
        given = table(plain, ("kind", "bits"), where)
        return SquareBlock(whole(given["bits"], 2, 17, where))
    if kind == "product":
        given = table(plain, ("kind", "widths", "signed", "shift", "low", "high"), where)
        left, right = (whole(each, 1, 26, where) for each in listed(given["widths"], where, 2))
        signed = of_type(given["signed"], bool, where)
        block = ProductBlock(
            (left, right), signed, whole(given["shift"], 0, LARGEST_SHIFT, where), *_ends(given, where)
        )
    elif kind == "function":
        given = table(plain, ("kind", "graph", "arguments", "lsb", "low", "high"), where)
        arguments = tuple(_argument(each, where) for each in listed(given["arguments"], where))
        graph = graph_from_plain(given["graph"], {f"x{k}" for k in range(len(arguments))}, f"{where}, graph")
        block = FunctionBlock(graph, arguments, _unit(given, where), *_ends(given, where))
    elif kind == "law":
        block = _law_block(plain, where)
    elif kind == "given":
        block = _given_block(plain, where)
    else:
        raise BddTorqueError(not_among(f"{where}, kind", kind, ("function", "product", "square", "law", "given")))
    if not 1 <= sum(block.input_widths) <= 26 or output_format(block)[0] > MOST_TABLE_BITS:
        raise BddTorqueError(f"{where} must have 1 to 26 input bits and at most {MOST_TABLE_BITS} output bits")
    return block


def _law_block(plain: object, where: str) -> LawBlock:
    given = table(plain, ("kind", "law", "arguments", "lsb", "low", "high", "centre", "sign"), where)
    arguments = tuple(_argument(each, where) for each in listed(given["arguments"], where))
    law = law_from_plain(given["law"], f"{where}, law")
    count = len(getattr(law, "around", (False,)))
    if len(arguments) != count or (law.real_valued and any(each.kind == "angle" for each in arguments)):
        raise BddTorqueError(f"{where} must have the {count} arguments of its law")
    if given["sign"] not in (1, -1):
        raise BddTorqueError(f"{where}, sign must be 1 or -1, got {given['sign']!r:.40}")
    centre = fraction(given["centre"], f"{where}, centre")
    return LawBlock(
        law, arguments, _unit(given, where), *_ends(given, where), centre, whole(given["sign"], -1, 1, where)
    )


def _given_block(plain: object, where: str) -> GivenBlock:
    given = table(plain, ("kind", "widths", "lsb", "low", "high", "table", "error"), where)
    widths = tuple(whole(each, 1, 26, where) for each in listed(given["widths"], where))
    key = of_type(given["table"], str, f"{where}, table")
    error = real(given["error"], f"{where}, error")
    if error < 0:
        raise BddTorqueError(f"{where}, error must be at least 0, got {error}")
    return GivenBlock(widths, _unit(given, where), *_ends(given, where), key, error)


def _unit(given: dict[str, Any], where: str) -> Fraction:
    """Return the value of one unit of a word."""
    lsb = fraction(given["lsb"], f"{where}, lsb")
    if lsb <= 0:
        raise BddTorqueError(f"{where}, lsb must be more than 0, got {str(lsb)[:40]}")
    return lsb


def _ends(given: dict[str, Any], where: str) -> tuple[int, int]:
    low, high = (whole(given[key], -MOST, MOST, f"{where}, {key}") for key in ("low", "high"))
    if low > high:
        raise BddTorqueError(f"{where}: low must be at most high, got {low} and {high}")
    return low, high


def _argument(plain: object, where: str) -> Argument:
    kind, bits, scale, centre = listed(plain, where, 4)
    if kind not in ("angle", "word"):
        raise BddTorqueError(not_among(f"{where}, kind of argument", kind, ("angle", "word")))
    factor = fraction(scale, f"{where}, argument")
    if kind == "angle" and not _is_float(factor):
        raise BddTorqueError(f"{where}, argument: an angle's multiple must be a float, got {scale!r:.40}")
    return Argument(kind, whole(bits, 1, 26, where), factor, fraction(centre, f"{where}, argument"))


def _is_float(number: Fraction) -> bool:
    try:
        return Fraction(float(number)) == number
    except OverflowError:
        return False


def graph_from_plain(plain: object, names: set[str], where: str) -> Graph:
    """Return the graph of one output that `Graph.to_plain` wrote, over inputs of these names."""
    given = table(plain, ("nodes", "outputs", "output_names"), where)
    nodes: list[Node] = []
    for k, each in enumerate(listed(given["nodes"], where)):
        op, left, right, name, value = listed(each, where, 5)
        kind = Op(whole(op, 0, len(Op) - 1, where))
        first, second = (_at(r, 2 * k, where) if j < OPERANDS[kind] else -1 for j, r in enumerate((left, right)))
        if kind is Op.INPUT and of_type(name, str, where) not in names:
            raise BddTorqueError(f"{where}, node {k}: {unknown('input', name, sorted(names))}")
        try:
            number = float.fromhex(of_type(value, str, where))
        except (ValueError, OverflowError):
            raise BddTorqueError(f"{where}, node {k}: a constant must be hexadecimal, got {value!r:.40}") from None
        if number - number != 0:
            raise BddTorqueError(f"{where}, node {k}: a constant must be finite, got {number}")
        nodes.append(Node(kind, first, second, of_type(name, str, where), number))
    outputs = tuple(_at(each, 2 * len(nodes), where) for each in listed(given["outputs"], where, 1))
    return Graph(tuple(nodes), outputs, tuple(of_type(n, str, where) for n in listed(given["output_names"], where, 1)))


def _output(plain: object, wires: int, where: str) -> Output:
    keys = ("name", "parts", "constant", "constant_error", "shift", "low", "high", "lsb", "dropped")
    given = table(plain, keys, where)
    return Output(
        _name(given, where),
        _parts(given["parts"], wires, where),
        whole(given["constant"], -MOST, MOST, where),
        fraction(given["constant_error"], where),
        whole(given["shift"], 0, LARGEST_SHIFT, where),
        *_ends(given, where),
        fraction(given["lsb"], where),
        fraction(given["dropped"], where),
    )


def _name(given: dict[str, Any], where: str) -> str:
    return of_type(given["name"], str, f"{where}, name")


def _at(value: object, count: int, where: str) -> int:
    """Return an index below count."""
    return whole(value, 0, count - 1, where)
