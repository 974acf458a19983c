"""Cost of the equations: HAM Tables 2 and 3 from primitive costs, messages, and cycles.

Only the price of each vector operation is given; how often it occurs is counted on the expressions. Zero vectors (what
lies before link 1 and beyond link n) cost nothing, equal expressions within one scope are computed once, and the scope
is a processor: all variables of a link in Table 2, one variable in Table 3, where nothing is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from machines.hamilton.speculation_equations import Expression, Kind, Recursion, VectorOp
from machines.hamilton.speculation_methods import Method, Place, Reading, dependences, places


@dataclass(frozen=True)
class Operations:
    """Multiplications and additions."""

    multiplications: int = 0
    additions: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(self.multiplications + other.multiplications, self.additions + other.additions)

    def cycles(self, multiplication: int = 4, addition: int = 3) -> int:
        """Return the time on a processor; HAM count 4 cycles a multiplication and 3 an addition."""
        return self.multiplications * multiplication + self.additions * addition


Prices = Mapping[VectorOp, Operations]

HAMILTON_PRICES: Prices = {
    VectorOp.READ: Operations(),
    VectorOp.CONSTANT: Operations(),
    VectorOp.AXIS: Operations(9, 6),
    VectorOp.INTO: Operations(9, 6),
    VectorOp.OUT: Operations(9, 6),
    VectorOp.CROSS: Operations(9, 5),
    VectorOp.ADD: Operations(0, 3),
    VectorOp.SUBTRACT: Operations(0, 3),
    VectorOp.SCALE: Operations(3, 0),
    VectorOp.INERTIA: Operations(3, 0),
}
"""Prices that reproduce HAM Tables 2 and 3 entry by entry: b_i = Rᵀz is a full product, a cross product
is a matrix times a vector with one sum saved (9m 5a, not the usual 6m 3a), inertias are diagonal, g_i is free."""
CONTROL_LAW = Operations(2, 4)
"""q̈_d + K_v (q̇_d − q̇) + K_p (q_d − q): HAM count it where b_i q̈_i is formed."""


def is_zero(expression: Expression, recursion: Recursion, link: int, n: int) -> bool:
    """Return whether a vector vanishes because it comes from before link 1 or from beyond link n."""
    if expression.op is VectorOp.READ:
        operand = expression.operand
        assert operand is not None
        beyond = link + operand.offset
        return beyond > n or (beyond < 1 and operand.variable != recursion.base_acceleration)
    if expression.op in (VectorOp.INTO, VectorOp.OUT, VectorOp.SCALE, VectorOp.INERTIA):
        return is_zero(expression.parts[0], recursion, link, n)
    if expression.op is VectorOp.CROSS:
        return any(is_zero(part, recursion, link, n) for part in expression.parts)
    if expression.op in (VectorOp.ADD, VectorOp.SUBTRACT):
        return all(is_zero(part, recursion, link, n) for part in expression.parts)
    return False


def operations_of(
    expression: Expression, recursion: Recursion, link: int, n: int, known: set[Expression], prices: Prices
) -> Operations:
    """Return what an expression costs beyond what is `known`, and add what it computed to that set."""
    if expression in known or is_zero(expression, recursion, link, n):
        return Operations()
    total = Operations()
    for part in expression.parts:
        total += operations_of(part, recursion, link, n, known, prices)
    known.add(expression)
    if any(is_zero(part, recursion, link, n) for part in expression.parts) and expression.op in (
        VectorOp.ADD,
        VectorOp.SUBTRACT,
    ):
        return total  # x + 0 is no operation
    if expression.op is VectorOp.AXIS and expression.name == "acceleration":
        total += CONTROL_LAW
    return total + prices[expression.op]


def link_costs(
    recursion: Recursion,
    link: int,
    n: int,
    *,
    shared: bool,
    kind: Kind = "revolute",
    prices: Prices = HAMILTON_PRICES,
) -> dict[str, Operations]:
    """Return the operations of each variable of one link of n: HAM Table 2 (`shared`) or Table 3 (not)."""
    known: set[Expression] = set()
    costs = {}
    for variable, expression in ((name, recursion.of(kind)[name]) for name in recursion.variables):
        costs[variable] = operations_of(expression, recursion, link, n, known if shared else set(), prices)
    return costs


def place_costs(
    recursion: Recursion, kinds: Sequence[Kind], *, shared: bool, prices: Prices = HAMILTON_PRICES
) -> dict[Place, Operations]:
    """Return the operations of every variable of an arm."""
    n = len(kinds)
    by_link = {
        link: link_costs(recursion, link, n, shared=shared, kind=kinds[link - 1], prices=prices)
        for link in range(1, n + 1)
    }
    return {(variable, link): by_link[link][variable] for variable, link in places(recursion, n)}


def total(costs: Iterable[Operations]) -> Operations:
    """Return the sum."""
    result = Operations()
    for each in costs:
        result += each
    return result


@dataclass(frozen=True)
class Overhead:
    """Cost of a method beyond the recursion, for one control loop with one processor a link."""

    messages: int  # vectors that go from one processor to another (a variable that two processors read is sent to each)
    operations: Operations  # of the predictions


def overhead(recursion: Recursion, method: Method, kinds: Sequence[Kind], *, send_differences: bool) -> Overhead:
    """Return messages and extra operations of a method with one processor a link.

    An extrapolated operand costs 3 multiplications and 3 additions a vector (2x' − x''); with `send_differences` its
    owner forms the derivative, 3 additions and 3 multiplications by 1/T, and sends it as a second message, and the
    reader adds T times it. An extrapolated torque costs 1 multiplication and 1 addition and no message.
    """
    sent = {
        (each.source, each.reader[1], each.reading)
        for each in dependences(recursion, method, kinds)
        if each.source[1] != each.reader[1]
    }
    predicted = [message for message in sent if message[2] is Reading.EXTRAPOLATED]
    owners = {source for source, _, _ in predicted}
    operations = Operations(3 * len(predicted), 3 * len(predicted))
    messages = len(sent)
    if send_differences:
        operations += Operations(3 * len(owners), 3 * len(owners))
        messages += len(predicted)
    if method.output_prediction:
        operations += Operations(len(kinds), len(kinds))
    return Overhead(messages, operations)
