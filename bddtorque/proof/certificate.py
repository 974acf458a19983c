"""The certificate: what is proved of every output word, for every input word there is.

The *true value* of a torque is the real-number function of the robot's parameters as stored in float64, at the exact
values of the input words, π exact; `RELATIVE_TO` says what it is for compiled functions. For each output the
certificate bounds |compiled − clamp(true)|, clamp being to the lowest and the highest word of the format, in units of
the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from html import escape
from typing import Any, Generic, TypeVar

from bddtorque.base.errors import BddTorqueError, WrongKindError
from bddtorque.base.plain import choice, listed, of_type, real, table, whole
from bddtorque.base.shown_text import html_table
from bddtorque.proof.proved_bound import (
    KEYS,
    ROBOT,
    SATURATIONS,
    Parts,
    ProvedBound,
    Saturation,
    TorqueRange,
    effective_bits,
)

T = TypeVar("T")
RELATIVE_TO = {
    "traced": "the real-number function that was traced, at the exact values of the input words, π exact",
    "float": "the float64 value that the function returned at the values of the input words",
    "law": "the law as a real-number function, at the exact values of the input words",
    "samples": "the interpolant of the samples, at the exact values of the input words",
}
"""Truths that the words of a compiled function are compared with."""
TORQUE_UNITS = ("N·m", "N")
NAME_WIDTH = 24
"""Characters that the names of rows take."""


class _OfOnlyOutput(Generic[T]):
    """An attribute of a certificate that is the attribute of its only output."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, certificate: Certificate | None, owner: type) -> T:
        if certificate is None:
            return self  # type: ignore[return-value]
        if len(certificate.outputs) != 1:
            count = len(certificate.outputs)
            raise WrongKindError(f"this certificate has {count} outputs: use torques[0].{self._name}, ...")
        value: T = getattr(certificate.outputs[0], self._name)
        return value


@dataclass(frozen=True)
class Certificate:
    """The proved bounds of all outputs: the torques of a robot from base to tip, or the value of a function.

    With a single output, the certificate also has the attributes of its `ProvedBound`: `bound`, `parts`,
    `relative_to`, ...

    Attributes
    ----------
    outputs
        One `ProvedBound` per output.
    find_ranges
        Finds `ranges` from the outputs, where they are the torques of a robot at hand. What it finds follows from the
        robot and its words, and is not part of what is proved.
    """

    outputs: tuple[ProvedBound, ...]
    find_ranges: Callable[[tuple[ProvedBound, ...]], tuple[TorqueRange, ...]] | None = field(
        default=None, compare=False
    )

    name = _OfOnlyOutput[str]()
    unit = _OfOnlyOutput[str]()
    lsb = _OfOnlyOutput[float]()
    parts = _OfOnlyOutput[Parts]()
    bound = _OfOnlyOutput[float]()
    bound_si = _OfOnlyOutput[float]()
    low = _OfOnlyOutput[float]()
    high = _OfOnlyOutput[float]()
    saturation = _OfOnlyOutput[Saturation]()
    witness = _OfOnlyOutput["tuple[tuple[int, ...], ...] | None"]()
    relative_to = _OfOnlyOutput[str]()
    assumed = _OfOnlyOutput[float]()
    spread = _OfOnlyOutput[float]()

    @property
    def torques(self) -> tuple[ProvedBound, ...]:
        """The bounds of all outputs; the same as `outputs`."""
        return self.outputs

    @cached_property
    def ranges(self) -> tuple[TorqueRange, ...]:
        """For each torque its range, how large it can be, and its effective bits; empty for other outputs.

        Found when it is first asked for, which takes up to some seconds.
        """
        return () if self.find_ranges is None else self.find_ranges(self.outputs)

    @property
    def faithful(self) -> bool:
        """True if every output is faithful: proved below one unit of its last bit."""
        return all(output.faithful for output in self.outputs)

    @property
    def bounds(self) -> tuple[float, ...]:
        """The proved bound of each output, in units of its last bit."""
        return tuple(output.bound for output in self.outputs)

    @property
    def _of_function(self) -> bool:
        return self.outputs[0].relative_to != ROBOT

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"outputs": [output.to_plain() for output in self.outputs]}

    @property
    def _what(self) -> str:
        return _what(self.outputs)

    def __str__(self) -> str:
        if self._of_function:
            return _function_text(self.outputs[0])
        lines = [f"Proved for every input word: |compiled - true {self._what}|, in units of the last bit", ""]
        for columns in _side_by_side(self._columns()):
            lines += [*_lines(columns), ""]
        lines += [f"  {said}" for said in self._about_saturation()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{output.name} {output.bound:.3f}" for output in self.outputs)
        return f"<bddtorque certificate, {'faithful' if self.faithful else 'NOT faithful'}: {bounds} units>"

    def _repr_html_(self) -> str:
        if self._of_function:
            return f"<pre>{escape(str(self))}</pre>"
        columns = self._columns()
        rows = [(name, *(column[name] for column in columns)) for name in columns[0] if name]
        return html_table(
            f"Proved for every input word: |compiled − true {self._what}|, in units of the last bit",
            ("", *(torque.name for torque in self.outputs)),
            rows,
            self._about_saturation(),
        )

    def _columns(self) -> list[dict[str, str]]:
        """Return what is shown of each output, by the name of its row."""
        title, driven = _bound_title(self.outputs), any(output.effort for output in self.outputs)
        known = zip(self.outputs, self._facts(), strict=True)
        return [_cells(output, own, title, driven) for output, own in known]

    def _facts(self) -> Sequence[TorqueRange | None]:
        return self.ranges or [None] * len(self.outputs)

    def _about_saturation(self) -> list[str]:
        """Return a line on each output that says whether it can saturate, by the closest range that is known."""
        known = zip(self.outputs, self._facts(), strict=True)
        return [f"{output.name}: {output.about_saturation(own)}" for output, own in known]


def _side_by_side(columns: Sequence[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Return columns in groups that fit a terminal of 80."""
    groups: list[list[dict[str, str]]] = []
    left = 0
    for column in columns:
        if not groups or _width(column) > left:
            groups.append([])
            left = 80 - 2 - NAME_WIDTH
        groups[-1].append(column)
        left -= _width(column)
    return groups


def _width(column: dict[str, str]) -> int:
    return max(12, *(len(cell) + 2 for cell in column.values()))


def _cells(proved: ProvedBound, known: TorqueRange | None, title: str, driven: bool) -> dict[str, str]:
    """Return what is shown of one output, by the name of its row; `title` is that of the bound in SI units."""
    cells = {"": proved.name[:30]}
    cells |= {part.name.replace("_", " "): f"{getattr(proved.parts, part.name):.4g}" for part in fields(Parts)}
    cells |= {"bound": f"{proved.bound:.4f}", title: f"{proved.bound_si:.4g}"}
    if known is None:
        cells |= {
            f"largest {_what([proved])}, at most": f"{proved.largest:.4g}",
            "effective bits, at most": f"{effective_bits(proved.largest, proved.bound_si):.1f}",
        }
    else:
        cells |= {"range": known.shown_range(), "largest torque": str(known.extent)}
        if known.within_limits is not None:
            cells["  within joint limits"] = str(known.within_limits)
        cells["effective bits"] = f"{known.effective_bits:.1f}"
    cells["faithful"] = "yes" if proved.faithful else "NO"
    if driven:
        effort = proved.effort
        cells["bound at the motor"] = "-" if effort is None else f"{proved.bound_drive:.3g} {effort[0]}"
    return cells


def _lines(columns: Sequence[dict[str, str]]) -> list[str]:
    """Return columns side by side, one line per row."""
    lines = []
    for name in columns[0]:
        cells = (f"{column[name]:>{_width(column)}}" for column in columns)
        lines.append(f"  {name:{NAME_WIDTH}}{''.join(cells)}")
    return lines


def _what(outputs: Sequence[ProvedBound]) -> str:
    return "torque" if all(output.unit in TORQUE_UNITS for output in outputs) else "value"


def _bound_title(torques: Sequence[ProvedBound]) -> str:
    """Return the name of the row of bounds, with their units."""
    if _what(torques) == "torque":
        return "bound in N·m or N"
    units = dict.fromkeys(torque.unit for torque in torques)
    return f"bound in {' or '.join(unit or '1' for unit in units)}"


def _function_text(output: ProvedBound) -> str:
    """Return the certificate of a function as text."""
    name, unit = output.name, f" {output.unit}" if output.unit else ""
    parts = [f"  {part.name.replace('_', ' '):24}{getattr(output.parts, part.name):12.3g}" for part in fields(Parts)]
    lines = [
        f"Proved for every input word: |compiled - {name}|, in units of the last bit ({output.lsb:.6g}{unit})",
        f"  {name} being {RELATIVE_TO[output.relative_to]}",
        "",
        *parts,
        f"  {'assumed, not proved':24}{output.assumed:12.3g}",
        f"  {'bound':24}{output.bound:12.4f}   {output.bound_si:.4g}{unit}",
        f"  {'faithful':24}{'yes' if output.faithful else 'NO':>12}",
    ]
    if output.relative_to == "samples":
        spread = f"{output.spread / output.lsb:12.3g}   {output.spread:.4g}{unit}"
        lines.append(f"  {'spread of samples, apart':24}{spread}")
    return "\n".join([*lines, "", f"  {name}: {output.about_saturation()}"])


def outputs_from_plain(plain: object, where: str = "certificate") -> tuple[ProvedBound, ...]:
    """Return the outputs of the certificate that `Certificate.to_plain` wrote; every field is checked."""
    given = listed(table(plain, ("outputs",), where)["outputs"], where)
    outputs = tuple(_output(each, f"{where}, output {k}") for k, each in enumerate(given, 1))
    if not outputs:
        raise BddTorqueError(f"{where} must be of at least one output")
    return outputs


def _output(plain: object, where: str) -> ProvedBound:
    given = table(plain, KEYS, where)
    parts = table(given["parts"], tuple(part.name for part in fields(Parts)), f"{where}, parts")
    witness = given["witness"]
    if witness is not None:
        witness = tuple(_words(each, where) for each in listed(witness, where))
    output = ProvedBound(
        of_type(given["name"], str, where),
        of_type(given["unit"], str, where),
        real(given["lsb"], where),
        Parts(**{name: real(value, f"{where}, {name}") for name, value in parts.items()}),
        real(given["low"], where),
        real(given["high"], where),
        choice(given["saturation"], SATURATIONS, f"{where}, saturation"),  # type: ignore[arg-type]
        witness,
        choice(given["relative_to"], (ROBOT, *RELATIVE_TO), f"{where}, relative_to"),
        real(given["assumed"], f"{where}, assumed"),
        real(given["spread"], f"{where}, spread"),
    )
    if real(given["bound"], where) != output.bound:
        raise BddTorqueError(f"{where}: the bound {given['bound']} is not the sum of its parts")
    return output


def _words(plain: object, where: str) -> tuple[int, ...]:
    return tuple(whole(word, -(2**31), 2**31, where) for word in listed(plain, where))
