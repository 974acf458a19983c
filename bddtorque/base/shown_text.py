"""Counts, word lengths and tables as people read them: in messages, by ``print`` and in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def counted(count: int, things: str) -> str:
    """Return ``"1 sum"`` or ``"1,024 sums"``; `things` is a plural that ends in s, with ``_`` for blanks."""
    return f"{count:,} {(things.removesuffix('s') if count == 1 else things).replace('_', ' ')}"


def bits_text(bits: Sequence[int]) -> str:
    """Return word lengths as people write them: ``12``, or ``12/10`` where they differ."""
    return str(bits[0]) if len(set(bits)) == 1 else "/".join(map(str, bits))


def text_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as lines of text under a title; the first column, which names the rows, is aligned to the left."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        [
            title,
            *(
                "  ".join([f"  {name:{widths[0]}}", *map(str.rjust, cells, widths[1:])]).rstrip()
                for name, *cells in lines
            ),
        ]
    )


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> str:
    """Return a table with a title above it and notes below; the first column names the rows. All text is escaped."""
    lines = [f"<p><b>{escape(title)}</b></p>", "<table>"]
    if any(head):
        lines.append(f"<thead><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr></thead>")
    lines.append("<tbody>")
    for name, *cells in rows:
        lines.append(f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    lines.append("</tbody></table>")
    lines += [f"<p>{escape(note)}</p>" for note in notes]
    return "\n".join(lines)
