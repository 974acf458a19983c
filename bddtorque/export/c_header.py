"""The header of an exported model: its one function, what its words mean, and what is proved of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from bddtorque.base.version import __version__
from bddtorque.export.c_names import one_of, safe_names, safe_unit
from bddtorque.export.c_text import comment
from bddtorque.model.model import Model
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.proof.certificate import Parts, ProvedBound
from bddtorque.words import Format

QUANTITIES = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}


def header_text(model: Model, prefix: str, floats: bool) -> str:
    """Return the header; `floats` adds the function that takes and gives physical units."""
    guard = f"BDDTORQUE_{prefix.upper()}_H"
    parts = [
        comment(list(_about(model, prefix))),
        f'#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern "C" {{\n#endif',
        f'#define {prefix.upper()}_JOINTS {len(model.formats.q)}\n#define {prefix.upper()}_DIGEST "{model.digest}"',
        "\n\n".join(_words(model, prefix, quantity) for quantity in QUANTITIES),
        _certificate(model, prefix),
        _function(model, prefix),
        *([_float_function(prefix)] if floats else []),
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
    ]
    return "\n\n".join(parts)


def _about(model: Model, prefix: str) -> Iterator[str]:
    plan = model.plan
    made, steps = "as tables of whole numbers", "words"
    if isinstance(plan, FloatPlan):
        made, steps = f"in IEEE floats of {plan.precision.name} precision", "words and floats"
    yield f"{prefix}.h: the inverse dynamics of a robot arm {made}."
    yield f"Written by bddtorque {__version__}; made anew by `bddtorque export`, so do not edit it."
    yield ""
    source, target = one_of(plan.source, ("terms", "recursive")), one_of(plan.target, ("tables", "host", "float"))
    yield f"Plan: source {source}, target {target}, {len(plan.wires)} {steps}, {len(plan.blocks)} tables."
    yield "Joints, from base to tip: " + ", ".join(
        f"{k} {name}" for k, name in enumerate(safe_names(model.formats.joint_names), 1)
    )
    yield "(letters and digits of their names)."


def _words(model: Model, prefix: str, quantity: str) -> str:
    """Return what the words of one quantity mean: a comment, and its bits and unit of every joint."""
    macro = f"{prefix.upper()}_{quantity.upper()}"
    lines, defined = [f"Words {quantity}[i] ({QUANTITIES[quantity]}), two's complement:"], []
    for joint, word in enumerate(getattr(model.formats, quantity)):
        lines.append(f"  {quantity}[{joint}]: {word_meaning(word)}")
        defined.append(f"#define {macro}{joint + 1}_BITS {word.bits}")
        defined.append(f"#define {macro}{joint + 1}_LSB {float(word.lsb)!r} /* {safe_unit(word.unit)} */")
    return comment(lines) + "\n" + "\n".join(defined)


def word_meaning(word: Format) -> str:
    """Return what a word stands for, in a formula, and what becomes of other numbers."""
    unit = safe_unit(word.unit)
    if word.kind == "angle":
        raw, ends = f"word * 2 pi / 2^{word.bits}", "wraps"
    else:
        centre = f"{float(word.centre)!r} + " if word.centre else ""
        raw, ends = f"{centre}word * {float(word.lsb)!r}", "clamped to its ends"
    if word.sign < 0:
        raw = f"-({raw})"
    mounted = f" + {float(word.offset)!r}" if word.offset else ""
    return f"{word.bits} bits, {raw}{mounted} {unit}, {ends}"


def _certificate(model: Model, prefix: str) -> str:
    """Return what is proved: a comment, and the bound of every torque."""
    torques = model.certificate.torques
    lines = [
        "Certificate. Proved for every input word there is: |compiled - true torque| is at most BOUND units of the",
        "last bit, where the true torque is the real-number function of the robot's parameters as parsed, at the exact",
        "values of the input words, clamped to the lowest and the highest torque word. `bddtorque verify` proves it",
        f"again. Every torque below one unit (faithful): {'yes' if model.certificate.faithful else 'NO'}.",
    ]
    for k, torque in enumerate(torques):
        lines += [f"  tau[{k}]: {line}" for line in _proved(torque)]
    macro = prefix.upper()
    defined = []
    for k, torque in enumerate(torques, 1):
        defined.append(f"#define {macro}_TAU{k}_BOUND {float(torque.bound)!r} /* units of the last bit */")
        defined.append(f"#define {macro}_TAU{k}_BOUND_SI {float(torque.bound_si)!r} /* {safe_unit(torque.unit)} */")
    return comment(lines) + "\n" + "\n".join(defined)


def _proved(torque: ProvedBound) -> Iterator[str]:
    parts = ", ".join(
        f"{field.name.replace('_', ' ')} {value:.3g}"
        for field in fields(Parts)
        if (value := getattr(torque.parts, field.name))
    )
    unit = safe_unit(torque.unit)
    yield f"bound {torque.bound:.6f} units"
    yield f"  {parts}"
    reach = f"{torque.low:.6g} to {torque.high:.6g} {unit}"
    match torque.saturation:
        case "cannot":
            yield f"cannot saturate (proved: within {reach})"
        case "can":
            yield f"CAN saturate; a range of {reach} would do"
        case _:
            yield f"saturation not excluded; a range of {reach} would do"


def prototype(prefix: str, name: str, kind: str = "int32_t") -> str:
    """Return what a function that computes torques is declared as."""
    joints = f"[{prefix.upper()}_JOINTS]"
    return (
        f"int {prefix}_{name}(const {kind} q{joints}, const {kind} qd{joints},\n"
        f"    const {kind} qdd{joints}, {kind} tau{joints})"
    )


def _function(model: Model, prefix: str) -> str:
    only = "IEEE floats" if isinstance(model.plan, FloatPlan) else "Whole numbers only"
    about = [
        "Torque words of one state, from position, velocity and acceleration words. Any numbers may be given: angles",
        "wrap, other words are clamped. Returns how many input words were out of range (beyond their format, or angles",
        f"beyond the limits of their joint); 0 is the good case. {only}; no state, no recursion, no heap.",
        "All input is read before any output is written, so that arrays may be shared.",
    ]
    if isinstance(model.plan, FloatPlan):
        about += [
            "Every operation must be rounded as it stands. The code refuses compilers that compute in other types, and",
            "-ffast-math, and tells gcc and clang to contract nothing (others: as by -ffp-contract=off). The processor",
            "must round to nearest and must not flush subnormal numbers to zero, as it does unless told otherwise.",
        ]
    return f"{comment(about)}\n{prototype(prefix, 'torque_words')};"


def _float_function(prefix: str) -> str:
    about = [
        "The same in rad or m (and per s, per s^2) and N*m or N: rounds to words, and back. Returns how many values",
        "were out of range, or -1, with nothing written, if one is no number or an angle of more than 2^24 turns.",
    ]
    return f"{comment(about)}\n{prototype(prefix, 'torque', 'double')};"
