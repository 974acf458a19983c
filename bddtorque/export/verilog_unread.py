"""Bits of a module's registers and wires that nothing reads, which linters would complain about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

DECLARED = re.compile(r"^ *(?:reg|wire) (?:signed )?\[(\d+):0\] (\w+)(?:;| =)")
WRITTEN = re.compile(r"\.out\(\w+\)")
READ = re.compile(r"\b([a-z]\w*)\b(?:\[(\d+)(?::(\d+))?\])?")


def unread_bits(lines: Sequence[str]) -> list[str]:
    """Return the bits of registers and wires that nothing reads: of sums whose low bits are only rounded, say."""
    widths: dict[str, int] = {}
    texts: list[str] = []
    for line in "\n".join(lines).splitlines():
        code = line.partition("//")[0]
        if declared := DECLARED.match(code):
            widths[declared[2]] = int(declared[1]) + 1
            code = code[declared.end() :]
        elif "<=" in code and "if (" not in code:
            code = code.partition("<=")[2]
        texts.append(WRITTEN.sub("", code))
    read = dict.fromkeys(widths, 0)
    for name, high, low in READ.findall("\n".join(texts)):
        if name in read:
            bits = (1 << widths[name]) - 1 if not high else (2 << int(high)) - (1 << int(low or high))
            read[name] |= bits
    return [text for name, bits in read.items() for text in _bit_texts(name, widths[name], bits)]


def _bit_texts(name: str, width: int, read: int) -> Iterator[str]:
    """Yield the runs of bits that are not read."""
    place = 0
    while place < width:
        if read >> place & 1:
            place += 1
            continue
        end = place
        while end < width and not read >> end & 1:
            end += 1
        yield name if (place, end) == (0, width) else f"{name}[{end - 1}:{place}]"
        place = end
