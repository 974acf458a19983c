"""Sums of several vectors in the order their terms arrive: what Lathrop's machines could save."""

from __future__ import annotations

from collections import Counter

from machines.lathrop.vector_program import VA, Operation, Program, Times


def best_summation(program: Program, times: Times) -> Program:
    """Return the program with every sum of several vectors taken in the order its terms arrive.

    Sums whose result only goes into another sum of the same variable are joined to it; then the two earliest terms are
    added first, and so on: no order of summation is there sooner.
    """
    read = Counter(name for operation in program for name in operation.operands)
    sums = {operation.result: operation for operation in program if operation.primitive is VA}
    inner = {
        name
        for each in sums.values()
        for name in each.operands
        if name in sums and read[name] == 1 and sums[name].group == each.group
    }

    def terms(name: str) -> list[str]:
        return [part for operand in sums[name].operands for part in (terms(operand) if operand in inner else [operand])]

    ready: dict[str, float] = {}
    ordered: list[Operation] = []

    def place(operation: Operation) -> None:
        ordered.append(operation)
        begin = max(ready.get(name, 0.0) for name in operation.operands)
        ready[operation.result] = begin + times.of(operation.primitive)

    for operation in program:
        if operation.result in inner:
            continue
        if operation.primitive is not VA:
            place(operation)
            continue
        waiting = sorted(terms(operation.result), key=lambda name: ready.get(name, 0.0))
        for count in range(1, len(waiting)):
            first, second = waiting.pop(0), waiting.pop(0)
            name = operation.result if not waiting else f"{operation.result}+{count}"
            place(Operation(name, VA, first, second, operation.group, operation.place))
            waiting = sorted([name, *waiting], key=lambda each: ready.get(each, 0.0))
    return tuple(ordered)
