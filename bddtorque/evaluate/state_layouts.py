"""Layouts of many states in memory: what reads them into vectors, and what writes the outputs.

The statements are those of `lane_code`. Every layout makes floats of words, looks whether one is out of range, and
counts angles beyond their limits, which are used as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bddtorque.evaluate.float_code import FloatCode
from bddtorque.evaluate.input_code import InputWord, array_names
from bddtorque.evaluate.lane_code import lane_step
from bddtorque.evaluate.state_arrays import StateArrays

TILE = 64
"""States of which columns are read at once; a multiple of the lanes of any vector."""


class InColumns:
    """Statements about states in columns (see `lane_code`): the words of a column lie on end.

    Attributes
    ----------
    length
        States that are read at once.
    widths
        Names of the numbers of states that lie between columns, by array.
    tallies
        Names of the numbers of angles beyond their limits, by wire.
    """

    name = "columns"

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], arrays: StateArrays, outputs: range, lanes: int
    ) -> None:
        self.code, self.arrays, self.outputs, self.lanes, self.length = code, arrays, outputs, lanes, TILE
        self.words = {word.wire: word for word in words}
        self.tallies = {word.wire: f"n{word.wire}" for word in words if word.wraps and not word.covers_all_words}
        self.widths = {name: f"{name}_width" for name in (*array_names(arrays), "out")}

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i."""
        return f"{word.array}[{word.place.column}, first + i]"

    def read(self, places: Mapping[str, str]) -> list[str]:
        """Return what makes floats of words, counts angles beyond their limits, and looks for other words beyond."""
        begin = ["outside = 0", *(f"{tally} = 0" for tally in self.tallies.values())]
        return [*begin, *self._read(places), "outside = any(outside)"]

    def write(self) -> list[str]:
        """Return what writes the outputs."""
        kind = self.code.word_kind
        return [f"out[{k} * out_width + first + i] = int64({kind}(r{k}))" for k in self.outputs]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements, one float after another: columns of round lengths compete for lines of a cache."""
        unchecked = dict(self.words)
        for name, value in self.code.words.items():
            yield from self._read_words(value.wires, unchecked, name, f"{name} = {value.text()}", places[name])
            unchecked = {wire: word for wire, word in unchecked.items() if wire not in value.wires}
        for wire in list(unchecked):
            yield from self._read_words((wire,), unchecked)

    def _read_words(
        self, wires: Sequence[int], unchecked: Mapping[int, InputWord], name: str = "", make: str = "", place: str = ""
    ) -> Iterator[str]:
        """Yield what reads words of all states, makes a float of them, if any, and checks those not checked."""
        for first in range(0, self.length, self.lanes):
            for wire in wires:
                word = self.words[wire]
                column = f"{word.place.column} * {word.array}_width"
                yield f"x{wire} = {word.array}[{column} + first + {first}]"
            if make:
                yield make
                yield f"{place.replace('i', str(first))} = {name}"
            for wire in wires:
                if wire in unchecked:
                    yield from self._check(f"x{wire}", unchecked[wire], name if name == f"a{wire}" else "")

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
            test = f"({angle} < {low}) {'&' if word.wraps_around else '|'} ({angle} > {high})"
        yield f"{tally} = {tally} + count({test})"


class InRows(InColumns):
    """The same for states in rows: all words of a state lie on end, in each array."""

    name = "tiles"

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], arrays: StateArrays, outputs: range, lanes: int
    ) -> None:
        super().__init__(code, words, arrays, outputs, lanes)
        self.length, self.widths = lanes, {}
        self.step = lane_step(len(outputs), lanes)  # states stand in lanes as `together` wants them

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i, which `apart` has put there."""
        state = f"({pow(self.step, -1, self.lanes)} * i & {self.lanes - 1})"
        return f"{word.array}[first + {state}, {word.place.column}]"

    def write(self) -> list[str]:
        """Return what writes the outputs."""
        results = ", ".join(f"r{k}" for k in self.outputs)
        return [f"out[{len(self.outputs)} * first] = int64({self.code.word_kind}(together({results})))"]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements; words of one kind are made floats before they are taken apart: half the bytes."""
        left = dict(self.code.words)
        for k, array in enumerate(array_names(self.arrays)):
            own = {word.place.column: word for word in self.words.values() if word.place.array == k}
            width = len(self.arrays.inputs[k])
            vectors = [f"{array}_{column}" for column in range(width)] if own else []
            for column, vector in enumerate(vectors):
                yield f"{vector} = {array}[{width} * first + {column * self.lanes}]"
            names = self._made_alike(k, own)
            if names:
                first = self.code.words[next(name for name in names.values() if name in self.code.words)]
                yield self._apart(names, [first.text({first.wires[0]: vector}) for vector in vectors])
                left = {name: value for name, value in left.items() if name not in names.values()}
                for vector in [] if own[min(own)].wraps else vectors:
                    yield from self._check(vector, own[min(own)])
            elif own:
                yield self._apart({column: f"x{word.wire}" for column, word in own.items()}, vectors)
            for column, word in own.items() if not names or own[min(own)].wraps else ():
                yield from self._check(f"x{word.wire}", word, names.get(column, ""))
        for name, value in left.items():
            yield f"{name} = {value.text()}"
        for name in self.code.words:
            yield f"{places[name]} = {name}"

    def _apart(self, names: Mapping[int, str], vectors: Sequence[str]) -> str:
        made = ", ".join(names.get(column, "unread") for column in range(len(vectors)))
        return f"{made}, = apart({self.step}, {', '.join(vectors)})"

    def _made_alike(self, array: int, words: Mapping[int, InputWord]) -> dict[int, str]:
        """Return the floats of one array's words by column, if each is made of one word, and all in the same way."""
        columns = {word.wire: column for column, word in words.items()}
        own = {name: value for name, value in self.code.words.items() if not columns.keys().isdisjoint(value.wires)}
        if not own or any(len(value.wires) != 1 for value in own.values()):
            return {}
        names = {columns[value.wires[0]]: name for name, value in own.items()}
        ways = {value.text({value.wires[0]: "x"}) for value in own.values()}
        kinds = {(word.kind, word.bits) for word in self.arrays.inputs[array]}
        limited = {column: f"a{word.wire}" for column, word in words.items() if word.wire in self.tallies}
        if len(ways) > 1 or len(names) < len(own) or len(kinds) > 1:
            return {}
        if limited and not all(name.startswith("a") for name in names.values()):
            return {}
        return limited | names  # limits of words that no output depends on matter too
