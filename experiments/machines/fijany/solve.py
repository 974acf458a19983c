"""A Qdd = Gamma on the triangular array as data flow: factors A = L D Lᵀ, and both triangular systems (FIJ section IV).

a_ji is taken where the inertia matrix left it, in PR_ji, and Gamma_j = tau_j - b_j where the bias left b_j, in PR_j1.
FIJ only gives the cost; the flow is ours:

- pivot d_k and y_k go down column k from the diagonal; PR_ik divides, l_ik = a_ik / d_k;
- l_ik and a_ik go right along row i; on the diagonal a_ik turns and goes down column i, so that PR_ij, which is passed
  by l_ik from the left and a_jk from above, subtracts their product;
- Gamma_i follows to the right, PR_ik subtracting l_ik y_k; what reaches the diagonal is y_i;
- x_k = y_k / d_k goes down column k to the last row and comes back up, PR_ik subtracting l_ik Qdd_i; what reaches the
  diagonal is Qdd_k;
- Qdd_i goes left along row i, and so ends in column 1, at the channel of row i.

A processor that has nothing to read waits, so that columns 2 to n start when column 1 has Gamma, as FIJ has it.
"""

from __future__ import annotations

from machines.fijany.inertia import Programme
from machines.fijany.triangular_array import Processor, Running


def solve_system(processor: Processor) -> Running:
    """Run factorisation and both substitutions in one go; column 1 ends with Qdd_j."""
    if processor.column == 1:
        processor["gamma"] = processor["tau"] - processor["b"]
    if processor.row == processor.column:
        yield from on_diagonal(processor)
    else:
        yield from below_diagonal(processor)


def on_diagonal(processor: Processor) -> Running:
    """PR_kk: d_k and y_k out, Qdd_k back."""
    last = processor.row == processor.size
    pivot = processor["a"]
    for _ in range(processor.column - 1):
        factor, element = yield processor.left
        if not last:
            processor.send(processor.below, (element,))
        pivot = pivot - factor * element
    if processor.column == 1:
        y = processor["gamma"]
    else:
        (y,) = yield processor.left
    if not last:
        processor.send(processor.below, (pivot, y))
    acceleration = y / pivot
    if not last:
        processor.send(processor.below, (acceleration,))
        (acceleration,) = yield processor.below
    if processor.column > 1:
        processor.send(processor.left, (acceleration,))
    else:
        processor["qdd"] = acceleration


def below_diagonal(processor: Processor) -> Running:
    """PR_ik, i > k: takes part in the pivots before k, divides by pivot k, and in both substitutions subtracts once."""
    last = processor.row == processor.size
    element = processor["a"]
    for _ in range(processor.column - 1):
        passing = yield processor.left
        processor.send(processor.right, passing)
        above = yield processor.above
        if not last:
            processor.send(processor.below, above)
        element = element - passing[0] * above[0]
    pivot_and_y = yield processor.above
    if not last:
        processor.send(processor.below, pivot_and_y)
    pivot, y = pivot_and_y
    factor = element / pivot
    processor.send(processor.right, (factor, element))
    if processor.column == 1:
        gamma = processor["gamma"]
    else:
        (gamma,) = yield processor.left
    processor.send(processor.right, (gamma - factor * y,))
    (partial,) = yield processor.above
    if not last:
        processor.send(processor.below, (partial,))
    (acceleration,) = yield processor.right
    if processor.column > 1:
        processor.send(processor.left, (acceleration,))
    else:
        processor["qdd"] = acceleration
    if not last:
        (partial,) = yield processor.below
    processor.send(processor.above, (partial - factor * acceleration,))


SOLVE_PHASES: tuple[tuple[str, Programme], ...] = (("solve", solve_system),)
