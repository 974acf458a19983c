"""The bias vector in the first column of the triangular array (FIJ section IV).

Inverse dynamics at zero acceleration, in the axes of frame n + 1, so that every recurrence is a plain sum: five of
them, each by distance doubling along the column. Z, P+, H, K are where step 1 of the inertia matrix left them. FIJ
projects the inertia about the centre of mass a second time; with K about O_j, which (22) has projected, there is no
need. The other columns have ended theirs and run nothing here. Row j ends with b_j.

Memory beyond that of `inertia`: qd; rate = Z(j) qd_j; w, dw(j), dV(j); force, moment (of link j, then of all
links from j on); b. Row 1 has gravity', minus gravity in frame 1; row n may have tip, the wrench of the hand.
"""

from __future__ import annotations

from collections.abc import Generator

from machines.fijany.inertia import Programme, as_triple, doublings, from_rows
from machines.fijany.triangular_array import Packet, Position, Processor, Running
from machines.vectors import ZERO, Triple, add, cross, dot, matrix_times, scaled


def sum_over_rows(processor: Processor, term: Triple, towards: int) -> Generator[Position, Packet, Triple]:
    """Return the sum of the terms of all rows up to this one (towards = 1) or from this one on (-1)."""
    total = term
    for h in doublings(processor.size):
        other = yield from from_rows(processor, total, -towards * h)
        if other is not None:
            total = add(total, as_triple(other))
    return total


def angular_velocity(processor: Processor) -> Running:
    """w(j) = w(j-1) + Z(j) qd_j."""
    processor["rate"] = scaled(processor["qd"], processor["Z"])
    processor["w"] = yield from sum_over_rows(processor, processor["rate"], 1)


def angular_acceleration(processor: Processor) -> Running:
    """dw(j) = dw(j-1) + w(j-1) × Z(j) qd_j."""
    inner = yield from from_rows(processor, processor["w"], -1)
    term = ZERO if inner is None else cross(as_triple(inner), processor["rate"])
    processor["dw(j)"] = yield from sum_over_rows(processor, term, 1)


def linear_acceleration(processor: Processor) -> Running:
    """dV(j+1) = dV(j) + dw(j) × P(j+1,j) + w(j) × (w(j) × P(j+1,j)); dV(1) is minus gravity."""
    w, P = processor["w"], processor["P+"]
    step = add(cross(processor["dw(j)"], P), cross(w, cross(w, P)))
    inner = yield from from_rows(processor, step, -1)
    term = matrix_times(processor["R"], processor["gravity'"]) if inner is None else as_triple(inner)
    processor["dV(j)"] = yield from sum_over_rows(processor, term, 1)


def link_wrench(processor: Processor) -> Running:
    """F(j) = M dV + dw × H + w × (w × H);  N(j) = K dw + w × K w + H × dV."""
    w, dw, dV, H, K = (processor[name] for name in ("w", "dw(j)", "dV(j)", "H", "K"))
    processor["force"] = add(add(scaled(processor["M"], dV), cross(dw, H)), cross(w, cross(w, H)))
    processor["moment"] = add(add(matrix_times(K, dw), cross(w, matrix_times(K, w))), cross(H, dV))
    yield from ()


def forces(processor: Processor) -> Running:
    """f(j) = f(j+1) + F(j), the hand's force with that of link n."""
    term = processor["force"]
    if "tip" in processor:
        term = add(term, as_triple(processor["tip"][:3]))
    processor["force"] = yield from sum_over_rows(processor, term, -1)


def moments(processor: Processor) -> Running:
    """n(j) = n(j+1) + N(j) + P(j+1,j) × f(j+1)."""
    outer = yield from from_rows(processor, processor["force"], 1)
    term = processor["moment"]
    if outer is not None:
        term = add(term, cross(processor["P+"], as_triple(outer)))
    elif "tip" in processor:
        term = add(term, cross(processor["P+"], as_triple(processor["tip"][:3])))
        term = add(term, as_triple(processor["tip"][3:]))
    processor["moment"] = yield from sum_over_rows(processor, term, -1)


def torques(processor: Processor) -> Running:
    """b_j = Z(j) · n(j)."""
    processor["b"] = dot(processor["Z"], processor["moment"])
    yield from ()


def in_first_column(programme: Programme) -> Programme:
    """Return the programme for column 1, and for all others one that does nothing."""

    def run(processor: Processor) -> Running:
        if processor.column == 1:
            yield from programme(processor)

    return run


BIAS_PHASES: tuple[tuple[str, Programme], ...] = tuple(
    (name, in_first_column(programme))
    for name, programme in (
        ("w", angular_velocity),
        ("wd", angular_acceleration),
        ("Vd of bias", linear_acceleration),
        ("F, N of bias", link_wrench),
        ("f", forces),
        ("n", moments),
        ("b", torques),
    )
)
