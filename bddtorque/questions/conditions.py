"""Conditions on the inputs of a question: ``qd=0``, ``0 <= q[elbow] <= 90 deg``, the limits of the joints.

A condition becomes the first and the last word that an input may take. An equality is the nearest word; a range all
words whose values lie in it, those of an angle around the turn where the range goes beyond half of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.measures import measure
from bddtorque.base.plain import describe, real
from bddtorque.dynamics.quantity import MOTION, role_of
from bddtorque.model.model import Model
from bddtorque.words.formats import TURN, Format, limit_run, limits
from bddtorque.words.integer_range import wrap

Conditions = str | Sequence[str] | Mapping[str, Any]
"""``"qd=0, q2 <= 90 deg"``, several such texts, or values and ranges by name: ``{"qd": 0, "q2": (0, "1 rad")}``."""

Within = Mapping[str, tuple[int, int]]
"""The first and the last word of inputs that may not take all of theirs; those of an angle may end beyond its highest
word, where they wrap."""

_NEAR = 1e-9
"""Of a unit: how far beyond the end of a range a word may be that float64 has there."""
_EXAMPLES = '"qd=0", "q2=90 deg", "q[elbow] >= 0", "-1 <= qd1 <= 1"'
_VALUE = re.compile(r"[-+.\d]|pi\b")
_NAME = re.compile(r"(?P<array>[a-z_]+)(?P<number>[0-9]{1,3})?(?:\[(?P<label>.+)\])?")

Ends = tuple[float, float]


def words_within(model: Model, where: Conditions = (), within_limits: bool = False) -> Within:
    """Return the first and the last word of every input that a condition, or a joint's limits, are about."""
    runs: dict[str, tuple[int, int]] = {}
    if within_limits:
        for name, word in model.formats.words.items():
            if limits(word)[0] > word.highest:
                raise BddTorqueError(f"ask: no word of {name} is within the limits of its joint: use more bits")
            run = limit_run(word)
            if run is not None:
                runs[name] = run
    for text, name, wanted in _stated(where):
        for each, ends in _ends(model, name, wanted, text):
            word = model.formats.words[each]
            chosen = _words(word, each, ends, text)
            if chosen is not None:
                runs[each] = _both(word, runs[each], chosen, text) if each in runs else chosen
    return runs


def said(where: Conditions, within_limits: bool) -> str:
    """Return the conditions as text, for answers."""
    texts = [text for text, _, _ in _stated(where)]
    return ", ".join([*texts, *(["within the limits of the joints"] if within_limits else [])])


def _stated(where: Conditions) -> Iterator[tuple[str, str, Any]]:
    """Yield what messages call a condition, the name that it is about, and a value, or a pair with None for no end."""
    if isinstance(where, Mapping):
        for name, value in where.items():
            pair = isinstance(value, list | tuple)
            if pair and len(value) != 2:
                raise BddTorqueError(f"ask: a range of {name} must be a pair, low and high, got {describe(value)}")
            yield f"{name} = {value}", str(name), tuple(value) if pair else value
        return
    texts = ([where] if where.strip() else []) if isinstance(where, str) else list(where)
    for text in (part.strip() for each in texts for part in re.split(r",|\band\b", each)):
        first, *rest = (part.strip() for part in re.split("(<=|>=|=)", text))
        match rest:
            case ["=", value] if first and value:
                yield text, first, tuple(value.split(":")) if value.count(":") == 1 else value
            case ["<=" | ">=" as sign, other] if first and other:
                flipped = _VALUE.match(first) is not None  # "0 <= q2"
                name, value = (other, first) if flipped else (first, other)
                yield text, name, (value, None) if (sign == ">=") != flipped else (None, value)
            case ["<=", name, "<=", value] if first and name and value:
                yield text, name, (first, value)
            case _:
                raise BddTorqueError(f"ask: a condition must be as in {_EXAMPLES}, got {text!r:.60}")


def _ends(model: Model, name: str, wanted: Any, text: str) -> Iterator[tuple[str, Ends | float]]:
    """Yield the words that a condition is about, each with its value or the ends of its range."""
    words, arrays = model.formats.words, {array.name: array for array in model.formats.inputs}
    names, measured = [name], ""
    match = _NAME.fullmatch(name)
    if name not in words or name in arrays:
        if match is None or match["array"] not in arrays or (match["number"] and match["label"]):
            raise BddTorqueError(f"ask: {unknown('input', name, list(words))} (in {text!r:.60})")
        array = arrays[match["array"]]
        names = list(array.word_names)
        if match["label"]:
            if match["label"] not in array.labels:
                what = "joint" if _measured(array.name) else "input"
                raise BddTorqueError(f"ask: {unknown(what, match['label'], list(array.labels))} (in {text!r:.60})")
            names = [array.word_names[array.labels.index(match["label"])]]
        elif match["number"]:
            names = [name]
    if match is not None and model.provenance.quantity is not None:
        measured = _measured(match["array"])
    for each in names:
        if each not in words:
            raise BddTorqueError(f"ask: {unknown('input', each, list(words))} (in {text!r:.60})")
        if isinstance(wanted, tuple):
            low, high = (
                math.copysign(math.inf, side) if end is None else _value(end, each, measured, words[each], text)
                for end, side in zip(wanted, (-1, 1), strict=True)
            )
            if low > high:
                raise BddTorqueError(f"ask: a range must be low, then high, got {text!r:.60}")
            yield each, (low, high)
        else:
            yield each, _value(wanted, each, measured, words[each], text)


def _measured(array: str) -> str:
    """Return what the words of an array measure, ``"position"``; empty where values have no units."""
    return MOTION.get(array.removesuffix(f"_{role_of(array)}"), "")


def _value(given: Any, name: str, measured: str, word: Format, text: str) -> float:
    """Return a number, or text with or without a unit, as a value at the joint."""
    what = f"ask: {name} (in {text!r:.60})"
    if isinstance(given, str):
        try:
            given = float(given)
        except ValueError:
            if not measured:
                raise BddTorqueError(f"{what} must be a number, got {describe(given)}") from None
            return float(measure(given, what, measured, word.unit.startswith("rad")))
    return real(given, what)


def _words(word: Format, name: str, wanted: Ends | float, text: str) -> tuple[int, int] | None:
    """Return the first and the last word of a value or a range; None for all of them."""
    span = word.span
    if not isinstance(wanted, tuple):
        nearest, outside = word.quantise_counted(wanted)
        if outside and word.kind == "range":
            ends = f"{span[0]:.6g} to {span[1]:.6g} {word.unit}"
            raise BddTorqueError(f"ask: {name} = {wanted:g} is beyond its range, {ends} (in {text!r:.60})")
        return int(nearest), int(nearest)
    low, high = wanted
    if word.kind == "angle":  # where one end is left open, it is at half a turn
        low, high = (math.copysign(TURN / 2, end) if math.isinf(end) else end for end in wanted)
        if high - low >= TURN:
            return None
        if low > high:
            raise BddTorqueError(f"ask: {text!r:.60}: an angle with one end must be within half a turn")
    first, last = sorted(word.units(end) for end in (low, high))
    first = word.lowest if first == -math.inf else math.ceil(first - _NEAR)
    last = word.highest if last == math.inf else math.floor(last + _NEAR)
    if word.kind == "range":
        first, last = max(first, word.lowest), min(last, word.highest)
    if first > last:
        raise BddTorqueError(
            f"ask: no word of {name} is in {text!r:.60}: words are {word.lsb:.4g} {word.unit} apart, from "
            f"{span[0]:.6g} to {span[1]:.6g}"
        )
    if last - first + 1 >= 1 << word.bits:
        return None
    begin = int(wrap(first, word.bits)) if word.kind == "angle" else first
    return begin, begin + last - first


def _both(word: Format, one: tuple[int, int], other: tuple[int, int], text: str) -> tuple[int, int]:
    """Return the words that two ranges share."""
    turns = (-1, 0, 1) if word.kind == "angle" else (0,)
    moved = [(other[0] + (k << word.bits), other[1] + (k << word.bits)) for k in turns]
    shared = [(max(one[0], low), min(one[1], high)) for low, high in moved if max(one[0], low) <= min(one[1], high)]
    if len(shared) != 1:
        what = "no state" if not shared else "two ranges of words, which must be asked for one by one,"
        raise BddTorqueError(f"ask: {what} in {text!r:.60} together with the conditions before it")
    first, last = shared[0]
    begin = int(wrap(first, word.bits)) if word.kind == "angle" else first
    return begin, begin + last - first
