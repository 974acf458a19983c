"""`FunctionCertificate`: what is proved of a compiled function, and relative to what."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import listed, of_type, real, table, whole
from bddtorque.proof.certificate import SATURATIONS, Bounded, Parts, Saturation, parts_from_plain

RELATIVE_TO = {
    "traced": "the real-number function that was traced, at the exact values of the input words, π exact",
    "float": "the float64 values that the function returned at the values of the input words",
    "law": "the law as a real-number function, at the exact values of the input words",
    "samples": "the interpolant of the samples, at the exact values of the input words",
}
"""What the words are compared with, by the kind of source."""
_KEYS = (
    "output", "unit", "lsb", "bound", "relative_to", "parts", "assumed", "spread", "low", "high", "saturation",
    "witness",
)  # fmt: skip


@dataclass(frozen=True)
class FunctionCertificate(Bounded):
    """The proved bound on |compiled − clamp(f)| over every input word, in units of the last bit.

    Attributes
    ----------
    output, unit, lsb : name and unit of the output word, and one unit of its last bit
    relative_to : a key of `RELATIVE_TO`: what f is
    parts : the bound by parts, in units of the last bit
    assumed : what the caller states that the values of f are off themselves, in units; not proved here
    spread : how far samples of the same words lie from their mean at most, in `unit`; no part of the bound
    low, high : a sound range of the compiled value before it is clamped, in `unit`
    saturation, witness : whether f can leave the range of its word, and input words for which it does
    """

    output: str
    unit: str
    lsb: float
    relative_to: str
    parts: Parts
    assumed: float
    spread: float
    low: float
    high: float
    saturation: Saturation
    witness: tuple[int, ...] | None = None

    @property
    def bound(self) -> float:
        """The bound on the error, in units of the last bit: what is proved, and what was assumed."""
        return (self.parts.total + self.assumed) * (1 + 1e-15)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain: dict[str, Any] = {key: getattr(self, key) for key in _KEYS}
        plain["parts"] = self.parts.to_plain()
        plain["witness"] = None if self.witness is None else list(self.witness)
        return plain

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        lines = [
            f"Proved for every input word: |compiled - {self.output}|, in units of the last bit ({self.lsb:.6g}{unit})",
            f"  {self.output} being {RELATIVE_TO[self.relative_to]}",
            "",
            *(f"  {field.name.replace('_', ' '):24}{getattr(self.parts, field.name):12.3g}" for field in fields(Parts)),
            f"  {'assumed, not proved':24}{self.assumed:12.3g}",
            f"  {'bound':24}{self.bound:12.4f}   {self.bound_si:.4g}{unit}",
            f"  {'faithful':24}{'yes' if self.faithful else 'NO':>12}",
        ]
        if self.relative_to == "samples":
            lines.append(f"  {'spread of samples, apart':24}{self.spread / self.lsb:12.3g}   {self.spread:.4g}{unit}")
        return "\n".join([*lines, "", f"  {self.output}: {self.about_saturation()}"])

    def _repr_html_(self) -> str:
        return f"<pre>{str(self).replace('&', '&amp;').replace('<', '&lt;')}</pre>"


def function_certificate_from_plain(plain: object, where: str = "certificate") -> FunctionCertificate:
    """Return the certificate that `FunctionCertificate.to_plain` wrote; every field is checked."""
    given = table(plain, _KEYS, where)
    if given["saturation"] not in SATURATIONS or given["relative_to"] not in tuple(RELATIVE_TO):
        raise BddTorqueError(f"{where}: saturation and relative_to as bddtorque writes them required")
    witness = given["witness"]
    if witness is not None:
        witness = tuple(whole(word, -(2**31), 2**31, where) for word in listed(witness, where))
    certificate = FunctionCertificate(
        of_type(given["output"], str, where),
        of_type(given["unit"], str, where),
        real(given["lsb"], where),
        given["relative_to"],
        parts_from_plain(given["parts"], where),
        real(given["assumed"], f"{where}, assumed"),
        real(given["spread"], f"{where}, spread"),
        real(given["low"], where),
        real(given["high"], where),
        given["saturation"],
        witness,
    )
    if real(given["bound"], where) != certificate.bound:
        raise BddTorqueError(f"{where}: a bound that is the sum of its parts required, {given['bound']} given")
    return certificate
