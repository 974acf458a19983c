"""How the words of many states lie in memory: what reads them into vectors, and what writes the torques.

The statements are those of `lane_code`. Every layout makes floats of words, looks whether one is out of range, and
counts angles beyond their limits, which are used as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bddtorque.evaluate.float_code import FloatCode
from bddtorque.evaluate.input_code import InputWord
from bddtorque.evaluate.lane_code import state_factor
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.words.interface import Interface

TILE = 64
"""States of which columns are read at once; a multiple of the lanes of any vector."""


class InColumns:
    """Statements about states in columns (see `lane_code`): the words of a joint lie on end.

    Attributes
    ----------
    length
        States that are read at once.
    widths
        Names of the numbers of states that lie between joints, of q, qd, qdd and tau.
    tallies
        Names of the numbers of angles beyond their limits, by wire.
    """

    name = "columns"
    widths: tuple[str, ...] = tuple(f"{each}_width" for each in (*QUANTITIES, "tau"))

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], formats: Interface, outputs: range, lanes: int
    ) -> None:
        self.code, self.formats, self.outputs, self.lanes, self.length = code, formats, outputs, lanes, TILE
        self.words = {f"x{word.wire}": word for word in words}
        self.tallies = {word.wire: f"n{word.wire}" for word in words if word.wraps and not word.whole}

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i."""
        return f"{word.quantity}[{word.joint}, first + i]"

    def read(self, places: Mapping[str, str]) -> list[str]:
        """Return what makes floats of words, counts angles beyond their limits, and looks for other words beyond."""
        begin = ["outside = 0", *(f"{tally} = 0" for tally in self.tallies.values())]
        return [*begin, *self._read(places), "outside = any(outside)"]

    def write(self) -> list[str]:
        """Return what writes the torques."""
        kind = self.code.word_kind
        return [f"tau[{k} * tau_width + first + i] = int64({kind}(r{k}))" for k in self.outputs]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements, joint by joint: of round numbers of states, all joints compete for lines of a cache."""
        unchecked = dict(self.words)
        for name, value in [*self.code.words.items(), *(("", x) for x in self.words)]:
            read = [x for x in _loads(value) if name or x in unchecked]
            for first in range(0, self.length, self.lanes) if read else ():
                for x in read:
                    word = self.words[x]
                    yield f"{x} = {word.quantity}[{word.joint} * {word.quantity}_width + first + {first}]"
                if name:
                    yield f"{name} = {value}"
                    yield f"{places[name].replace('i', str(first))} = {name}"
                for x in read:
                    angle = name if name == f"a{x[1:]}" else ""
                    yield from self._check(x, unchecked[x], angle) if x in unchecked else ()
            unchecked = {x: word for x, word in unchecked.items() if x not in read}

    def _check(self, x: str, word: InputWord, angle: str = "") -> Iterator[str]:
        """Yield what looks whether a word is out of range; an angle (`angle` in quarter turns, if known) is counted."""
        mask, tally = (1 << word.bits) - 1, self.tallies.get(word.wire)
        if not word.wraps:
            yield f"outside = outside | (({x} + {word.half}) & {~mask})"
        if tally is None:
            return
        # from the first word in range on, around the turn
        test = f"(({x} - {word.low}) & {mask}) > {(word.high - word.low) & mask}"
        if angle:
            low, high = (self.code.number(end * 2.0 ** (2 - word.bits)) for end in (word.low, word.high))
            test = f"({angle} < {low}) {'&' if word.around else '|'} ({angle} > {high})"
        yield f"{tally} = {tally} + count({test})"


class InRows(InColumns):
    """The same for states in rows: all words of a state lie on end."""

    name, widths = "tiles", ()

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], formats: Interface, outputs: range, lanes: int
    ) -> None:
        super().__init__(code, words, formats, outputs, lanes)
        self.joints, self.length = len(formats.q), lanes

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i, which `apart` has put there."""
        state = f"({state_factor(self.joints, self.lanes)} * i & {self.lanes - 1})"
        return f"{word.quantity}[first + {state}, {word.joint}]"

    def write(self) -> list[str]:
        """Return what writes the torques."""
        results = ", ".join(f"r{k if k in self.outputs else 0}" for k in range(self.joints))
        return [f"tau[{self.joints} * first] = int64({self.code.word_kind}(together({results})))"]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements; words of one kind are made floats before they are taken apart: half the bytes."""
        left = dict(self.code.words)
        for quantity in QUANTITIES:
            own = {word.joint: word for word in self.words.values() if word.quantity == quantity}
            vectors = [f"{quantity}{k}" for k in range(self.joints)]
            for k, vector in enumerate(vectors):
                yield f"{vector} = {quantity}[{self.joints} * first + {k * self.lanes}]"
            template, names = self._template(quantity, own)
            if template:
                yield self._apart(names, [re.sub(r"\bx\b", vector, template) for vector in vectors])
                left = {name: value for name, value in left.items() if name not in names.values()}
                for vector in [] if own[min(own)].wraps else vectors:
                    yield from self._check(vector, own[min(own)])
            else:
                yield self._apart({joint: f"x{word.wire}" for joint, word in own.items()}, vectors)
            for joint, word in own.items() if not template or own[min(own)].wraps else ():
                yield from self._check(f"x{word.wire}", word, names.get(joint, ""))
        for name, value in left.items():
            yield f"{name} = {value}"
        for name in self.code.words:
            yield f"{places[name]} = {name}"

    def _apart(self, names: Mapping[int, str], vectors: Sequence[str]) -> str:
        return f"{', '.join(names.get(k, 'unread') for k in range(self.joints))}, = apart({', '.join(vectors)})"

    def _template(self, quantity: str, words: Mapping[int, InputWord]) -> tuple[str, dict[int, str]]:
        """Return how floats are made of the word x, and their names by joint, if that is the same for all words."""
        formats = self.formats.inputs[QUANTITIES.index(quantity)]
        joints = {f"x{word.wire}": joint for joint, word in words.items()}
        own = {name: value for name, value in self.code.words.items() if not joints.keys().isdisjoint(_loads(value))}
        templates = {re.sub(r"\bx\d+\b", "x", value) for value in own.values()}
        names = {joints[_loads(value)[0]]: name for name, value in own.items() if len(_loads(value)) == 1}
        alike = (
            len(templates) == 1 and len(names) == len(own) and len({(each.kind, each.bits) for each in formats}) == 1
        )
        limited = {joint: f"a{word.wire}" for joint, word in words.items() if word.wire in self.tallies}
        if not alike or (limited and not all(name.startswith("a") for name in names.values())):
            return "", {}
        return templates.pop(), limited | names  # limits of words that no torque depends on matter too


def _loads(value: str) -> list[str]:
    """Return the words that an expression reads."""
    return list(dict.fromkeys(re.findall(r"\bx\d+\b", value)))
