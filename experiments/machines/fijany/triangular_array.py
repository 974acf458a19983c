"""A triangular array of processors with nearest-neighbour links, simulated number by number (FIJ Fig. 3).

PR_ji stands in row j, column i, 1 <= i <= j <= n: n(n+1)/2 processors. Every processor runs a *programme*, a generator
that computes on what its processor holds, sends packets to neighbours and, by ``packet = yield neighbour``, waits for
one. Nothing else moves data:

- a number in the array is a `Word`, owned by one processor; arithmetic on a word of another processor is refused;
- a packet goes to one of the four neighbours or is refused, so that a distance of h rows costs h hops;
- the outside is reached by n channels, channel j ending in PR_j1.

The simulator counts what was done: operations of every processor, messages, the longest chain of hops, and the longest
path of operations (a packet cannot be read before it was sent). No figure of the paper goes in. A division counts as a
multiplication, as in FIJ section IV. Results do not depend on the order in which the simulator lets processors run,
since a programme cannot see whether a packet is there: the array is a Kahn network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from machines.fijany.owned_words import ArrayCosts, ArrayError, Number, Path, Word

Position = tuple[int, int]
"""(row j, column i), both from 1, row >= column."""
Packet = tuple[Number, ...]
Running = Generator[Position, Packet, None]


class Processor:
    """One PR_ji: its memory, its links, and what it did. Programmes use the methods; the array keeps the counters."""

    def __init__(self, array: TriangularArray, row: int, column: int) -> None:
        self.row, self.column, self.size = row, column, array.size
        self.name = f"PR_{row},{column}"
        self.running = False
        self.multiplications = self.additions = 0
        self.messages = self.words = 0
        self.depth = 0
        """The longest chain of hops that ends here."""
        self.first_arrival: Path | None = None
        """The path of the first packet read since the counters were last cleared."""
        self._array = array
        self._memory: dict[str, Any] = {}
        self._before = Path()
        """Added to the operations counted here, this is the longest path that ends here."""
        self._inbox: dict[Position, deque[tuple[Packet, Path, int]]] = {}

    def __getitem__(self, name: str) -> Any:
        if not self.running and self._array.at_work:
            raise ArrayError(
                f"memory of {self.name}, '{name}': only its own program may use it, but another one is running"
            )
        return self._memory[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if not self.running and self._array.at_work:
            raise ArrayError(
                f"memory of {self.name}, '{name}': only its own program may use it, but another one is running"
            )
        self._memory[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._memory

    def word(self, number: Number) -> Word:
        """Return a number as a word of this processor's memory (a constant becomes one; its own words stay)."""
        return number if isinstance(number, Word) else Word(number, self)

    @property
    def above(self) -> Position:
        """The neighbour in row j - 1."""
        return self.row - 1, self.column

    @property
    def below(self) -> Position:
        """The neighbour in row j + 1."""
        return self.row + 1, self.column

    @property
    def left(self) -> Position:
        """The neighbour in column i - 1."""
        return self.row, self.column - 1

    @property
    def right(self) -> Position:
        """The neighbour in column i + 1."""
        return self.row, self.column + 1

    @property
    def path(self) -> Path:
        """The longest path, of operations and hops, to where this processor is now."""
        return self._before.then(Path(self.multiplications, self.additions))

    def send(self, to: Position, packet: Sequence[Number]) -> None:
        """Hand a packet of own words to a neighbour; it arrives one hop later."""
        receiver = self._array.neighbour(self, to)
        for number in packet:
            if isinstance(number, Word) and number.owner is not self:
                raise ArrayError(
                    f"packet from {self.name}: it may send only its own words, got one of {number.owner.name}"
                )
        self.messages += 1
        self.words += len(packet)
        copies = tuple(Word(number.value, receiver) if isinstance(number, Word) else number for number in packet)
        path = self.path.then(Path(hops=1))
        receiver._inbox.setdefault((self.row, self.column), deque()).append((copies, path, self.depth + 1))
        self._array.woken(receiver, (self.row, self.column))

    def from_channel(self) -> Packet:
        """Read what the outside put on the channel of this row; only column 1 has one."""
        return tuple(Word(value, self) for value in self._array.channel(self, "in"))

    def to_channel(self, packet: Sequence[Word]) -> None:
        """Put own words on the channel of this row; only column 1 has one."""
        self._array.channel(self, "out").extend(word.value for word in packet)

    def _read(self, sender: Position) -> Packet | None:
        """Take the next packet of a link, if there is one; time goes on to when it arrived."""
        queue = self._inbox.get(sender)
        if not queue:
            return None
        packet, path, depth = queue.popleft()
        costs = self._array.costs
        if path.time(costs) > self.path.time(costs):
            self._before = path.then(Path(-self.multiplications, -self.additions))
        self.depth = max(self.depth, depth)
        if self.first_arrival is None:
            self.first_arrival = path
        return packet

    def _clear(self, clocks: bool) -> None:
        if clocks:
            self._before = Path(-self.multiplications, -self.additions)
        self.depth, self.first_arrival = 0, None


@dataclass(frozen=True)
class PhaseRecord:
    """Counts of the simulator while all processors ran one programme."""

    name: str  # of the phase
    path: Path  # the longest path: of this phase alone where the array has barriers, from the start where it has none
    hops: int  # the longest chain of hops within the phase
    work: Path  # multiplications and additions of all processors together
    # messages, words: sent over links, all together
    messages: int
    words: int
    paths: dict[Position, Path]  # per processor, where its own path stood at the end
    triggered: dict[Position, Path]  # per processor, the path of the first packet it read; absent where it read none


class TriangularArray:
    """n(n+1)/2 processors and n channels; `run` lets every processor run a programme to its end.

    With `barriers`, all wait at the end of each phase for the slowest, as the sums of costs in FIJ assume; without,
    a processor goes on as soon as it can, which FIJ calls data-driven.
    """

    def __init__(self, size: int, costs: ArrayCosts | None = None, *, barriers: bool = True) -> None:
        if size < 1:
            raise ArrayError(f"triangular array: there must be at least 1 row, got {size}")
        self.size, self.costs, self.barriers = size, costs or ArrayCosts(), barriers
        self.at_work = False
        self.records: list[PhaseRecord] = []
        self.inputs: dict[int, list[Any]] = {row: [] for row in range(1, size + 1)}
        """Values on the channel of each row, for its processor in column 1 to read."""
        self.outputs: dict[int, list[Any]] = {row: [] for row in range(1, size + 1)}
        self._processors = {
            (row, column): Processor(self, row, column) for row in range(1, size + 1) for column in range(1, row + 1)
        }
        self._waits: dict[Processor, Position] = {}
        self._ready: deque[tuple[Processor, Position | None]] = deque()
        """The processors that can run on, and the sender it waited for; None before its first step."""

    def __getitem__(self, position: Position) -> Processor:
        if position not in self._processors:
            raise ArrayError(
                f"triangular array: expected a processor of rows 1 to {self.size} and columns up to the row, got "
                f"row {position[0]}, column {position[1]}"
            )
        return self._processors[position]

    def __len__(self) -> int:
        return len(self._processors)

    def __iter__(self) -> Iterator[Processor]:
        return iter(self._processors.values())

    def neighbour(self, processor: Processor, other: Position) -> Processor:
        """Return the processor there, if a link leads to it."""
        if abs(processor.row - other[0]) + abs(processor.column - other[1]) != 1:
            raise ArrayError(f"{processor.name}: expected a nearest neighbour, got row {other[0]}, column {other[1]}")
        return self[other]

    def channel(self, processor: Processor, direction: str) -> list[Any]:
        """Return the queue of a row's channel, ``"in"`` or ``"out"``."""
        if processor.column != 1:
            raise ArrayError(f"{processor.name}: channels end in column 1 only")
        return (self.inputs if direction == "in" else self.outputs)[processor.row]

    def woken(self, processor: Processor, sender: Position) -> None:
        """Let a processor that waits for this sender run on."""
        if self._waits.get(processor) == sender:
            del self._waits[processor]
            self._ready.append((processor, sender))

    def run(self, name: str, programme: Callable[[Processor], Running]) -> PhaseRecord:
        """Run a programme on every processor until all have ended, record what was counted, and return that."""
        before = self._totals()
        for processor in self:
            processor._clear(self.barriers)
        self.at_work = True
        try:
            self._run_all({processor: programme(processor) for processor in self})
        finally:
            self.at_work = False
        after = self._totals()
        m, a, messages, words = (later - earlier for later, earlier in zip(after, before, strict=True))
        paths = {position: processor.path for position, processor in self._processors.items()}
        triggered = {
            position: processor.first_arrival
            for position, processor in self._processors.items()
            if processor.first_arrival is not None
        }
        longest = max(paths.values(), key=lambda path: path.time(self.costs))
        record = PhaseRecord(
            name, longest, max(each.depth for each in self), Path(m, a), messages, words, paths, triggered
        )
        self.records.append(record)
        return record

    def _run_all(self, programmes: dict[Processor, Running]) -> None:
        self._ready, self._waits = deque((processor, None) for processor in programmes), {}
        while self._ready:
            processor, sender = self._ready.popleft()
            processor.running = True
            try:
                if sender is None:
                    sender = next(programmes[processor])
                self.neighbour(processor, sender)
                while (packet := processor._read(sender)) is not None:
                    sender = programmes[processor].send(packet)
                    self.neighbour(processor, sender)
                self._waits[processor] = sender
            except StopIteration:
                pass
            finally:
                processor.running = False
        for processor, sender in self._waits.items():
            raise ArrayError(f"{processor.name} waits for {self[sender].name}, which sends nothing more")
        for processor in self:
            for sender, queue in processor._inbox.items():
                if queue:
                    raise ArrayError(f"{processor.name} has not read what {self[sender].name} sent")

    def _totals(self) -> tuple[int, int, int, int]:
        return (
            sum(each.multiplications for each in self),
            sum(each.additions for each in self),
            sum(each.messages for each in self),
            sum(each.words for each in self),
        )
