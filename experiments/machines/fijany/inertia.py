"""The inertia matrix on the triangular array: the programme of each processor, phase by phase (FIJ eqs. 16 to 30).

Column i of the array computes column i of the matrix, and ends with a_ji in PR_ji. Memory of PR_ji is named as in FIJ,
always in the axes of frame n + 1 unless said otherwise:

    constants of link j        P', H', K' (axes of frame j + 1), M, link
    sine, cosine               of q_j
    R(j+1,j)                   then R, which grows to R(n+1,j), and R', R(n+1,j+1)
    Z, P+, H, K                Z(j), P(j+1,j), H(j), K(j)
    P(j,j-h)                   for h = 1, 2, 4, ..., by h; P(j,i); dw = Z(i)
    F, N, a                    force, moment, element of the matrix

Every phase is a generator, as the array wants it; those that send nothing end by `yield from ()`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

from machines.fijany.links import LinkConstants, joint_rotation
from machines.fijany.triangular_array import Packet, Position, Processor, Running
from machines.vectors import (
    IDENTITY,
    ZERO,
    Rows,
    Triple,
    add,
    cross,
    dot,
    matrix_product,
    matrix_times,
    scaled,
    transposed,
)

Programme = Callable[[Processor], Running]


def load_constants(processor: Processor, link: LinkConstants) -> None:
    """Put the constants of link j into the memory of a processor of row j, where FIJ assumes them."""
    processor["link"] = link
    processor["P'"] = as_triple(tuple(map(processor.word, link.position)))
    processor["H'"] = as_triple(tuple(map(processor.word, link.first_moment)))
    processor["K'"] = as_square(tuple(processor.word(each) for row in link.second_moment for each in row))
    processor["M"] = processor.word(link.mass)


def doublings(rows: int) -> Iterator[int]:
    """Yield the distances 1, 2, 4, ... that a recurrence over so many rows takes: ceil(log2 rows) of them."""
    h = 1
    while h < rows:
        yield h
        h *= 2


def from_rows(processor: Processor, packet: Packet, distance: int) -> Generator[Position, Packet, Packet | None]:
    """Let all packets of a column move; return the one from row + distance (below; above if negative), None if none.

    Each passes from neighbour to neighbour, one hop a row. A packet bound for a row that is not there is not sent.
    """
    step = 1 if distance > 0 else -1
    source, target = (processor.below, processor.above) if step > 0 else (processor.above, processor.below)

    def travels(origin: int) -> bool:
        return all(processor.column <= row <= processor.size for row in (origin, origin - distance))

    travelling: Packet = packet
    arrived = False
    for k in range(abs(distance)):
        origin = processor.row + k * step  # where the packet held now comes from
        if travels(origin):
            processor.send(target, travelling)
        arrived = travels(origin + step)
        if arrived:
            travelling = yield source
    return travelling if arrived else None


def joint_rotations(processor: Processor) -> Running:
    """Run (16), R(j+1, j), in every processor of row j."""
    R = joint_rotation(processor["link"].rotation, processor["sine"], processor["cosine"])
    processor["R"] = as_square(tuple(processor.word(each) for row in R for each in row))
    yield from ()


def tip_rotations(processor: Processor) -> Running:
    """Run (17), R(n+1, j) by distance doubling: R(e, j) = R(e, j+h) R(j+h, j), e = min(j + 2h, n + 1)."""
    for h in doublings(processor.size + 1 - processor.column):
        outer = yield from from_rows(processor, flat(processor["R"]), h)
        if outer is not None:
            processor["R"] = matrix_product(as_square(outer), processor["R"])


def shift_rotations(processor: Processor) -> Running:
    """Run (18): row j also gets R(n+1, j+1), from the row below; the last row has the unit matrix."""
    outer = yield from from_rows(processor, flat(processor["R"]), 1)
    processor["R'"] = IDENTITY if outer is None else as_square(outer)
    processor["Z"] = tuple(row[2] for row in processor["R"])  # (19), no computation


def project_position(processor: Processor) -> Running:
    """Run (20), P(j+1, j) in the axes of frame n + 1."""
    processor["P+"] = matrix_times(processor["R'"], processor["P'"])
    yield from ()


def project_first_moment(processor: Processor) -> Running:
    """Run (21), H(j) in the axes of frame n + 1."""
    processor["H"] = matrix_times(processor["R'"], processor["H'"])
    yield from ()


def project_second_moment(processor: Processor) -> Running:
    """Run (22), K(j) = R K' Rᵀ, two full products as FIJ counts them."""
    R = processor["R'"]
    processor["K"] = matrix_product(matrix_product(R, processor["K'"]), transposed(R))
    yield from ()


def positions(processor: Processor) -> Running:
    """Run (23), (24): P(j, i) by distance doubling towards the top of the column, and Z(i), which travels along.

    P(j, max(j-2h, i)) = P(j, j-h) + P(j-h, max(j-2h, i)). Where P(j, j-h) was reached it is kept: step 3 wants it.
    """
    row, top = processor.row, processor.column
    previous = yield from from_rows(processor, processor["P+"], -1)  # P(j, j-1) was computed in row j - 1
    reached, P = (row, ZERO) if previous is None else (row - 1, as_triple(previous))
    dw = processor["Z"] if row == top else None
    for h in doublings(processor.size + 1 - top):
        if row - h >= top:
            processor[f"P(j,j-{h})"] = P
        packet = yield from from_rows(processor, (*P, *(dw or ())), -h)
        if packet is not None:
            if reached > top:
                P, reached = add(P, as_triple(packet[:3])), max(row - 2 * h, top)
            if dw is None and len(packet) > 3:
                dw = as_triple(packet[3:])
    processor["P(j,i)"], processor["dw"] = P, dw


def accelerations(processor: Processor) -> Running:
    """Run (25), the acceleration of O_j for a unit acceleration of joint i."""
    processor["dV"] = cross(processor["dw"], processor["P(j,i)"])
    yield from ()


def forces(processor: Processor) -> Running:
    """Run (26), F(j+1, j, i)."""
    processor["F"] = add(cross(processor["dw"], processor["H"]), scaled(processor["M"], processor["dV"]))
    yield from ()


def moments(processor: Processor) -> Running:
    """Run (27), N(j+1, j, i)."""
    processor["N"] = add(matrix_times(processor["K"], processor["dw"]), cross(processor["H"], processor["dV"]))
    yield from ()


def outer_wrenches(processor: Processor) -> Running:
    """Run (28), (29): F(n+1, j, i) and N(n+1, j, i) by distance doubling.

    Row j + h moves its moment to O_j before it sends it, since it has P(j+h, j) from step 2; the product is the one of
    (29), done where both its factors are.
    """
    for h in doublings(processor.size + 1 - processor.column):
        packet: Packet = ()
        if processor.row - h >= processor.column:
            lever = processor[f"P(j,j-{h})"]
            packet = (*processor["F"], *add(processor["N"], cross(lever, processor["F"])))
        outer = yield from from_rows(processor, packet, h)
        if outer is not None:
            processor["F"] = add(processor["F"], as_triple(outer[:3]))
            processor["N"] = add(processor["N"], as_triple(outer[3:]))


def elements(processor: Processor) -> Running:
    """Run (30), a_ji = Z(j) · N(n+1, j, i); on the diagonal the rotor of joint j is added, if it has one."""
    rotor = processor["link"].rotor if processor.row == processor.column else 0.0
    processor["a"] = dot(processor["Z"], processor["N"]) + rotor
    yield from ()


INERTIA_PHASES: tuple[tuple[str, Programme], ...] = (
    ("(16) R(j+1,j)", joint_rotations),
    ("(17) R(n+1,j)", tip_rotations),
    ("(18) shift", shift_rotations),
    ("(20) P", project_position),
    ("(21) H", project_first_moment),
    ("(22) K", project_second_moment),
    ("(24) P(j,i)", positions),
    ("(25) Vd", accelerations),
    ("(26) F", forces),
    ("(27) N", moments),
    ("(28)-(29) F, N", outer_wrenches),
    ("(30) a", elements),
)


def flat(matrix: Rows) -> Packet:
    """Return the nine numbers of a matrix."""
    return tuple(each for row in matrix for each in row)


def as_triple(packet: Packet) -> Triple:
    """Return three numbers as a vector."""
    x, y, z = packet
    return x, y, z


def as_square(packet: Packet) -> Rows:
    """Return nine numbers as a matrix."""
    return as_triple(packet[:3]), as_triple(packet[3:6]), as_triple(packet[6:])
