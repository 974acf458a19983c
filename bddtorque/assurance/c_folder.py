"""Exported C in its folder: whose it is, and what of it is the text that the exporter writes.

`c_equivalence` proves the bodies of functions, and `c_tables` runs the words of tables. Everything else must be what
`export_c` writes for this model with the options in the manifest, line by line: the header, all directives of the
preprocessor, all declarations, and the functions that look words up. So no proof guesses what a macro or header does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import NoneType
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_exporter import CFiles, c_files
from bddtorque.export.folder import MANIFEST
from bddtorque.model.applicability import require
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.spec.chips import Chip, chip_named

OPTIONS: dict[str, tuple[type, ...]] = {
    "name": (str,), "term": (str, NoneType), "form": (str,), "flash": (int, NoneType), "floats": (bool,),
    "chip": (str,), "io": (int,), "package": (str, NoneType),
}  # fmt: skip
"""Options of an export in its manifest, and their types."""
LOOKS_UP = re.compile(r"static (inline )?\w+ block_\d+(_words)?\(")
"""The beginning of a function that looks words up in a table."""
MACROS = {"BDDTORQUE_INLINE": "static inline", "BDDTORQUE_ROM": "", "BDDTORQUE_RARE": ""}
"""Macros that the directives of the exporter define, as far as it matters here."""


@dataclass(frozen=True)
class CFolder:
    """Exported C that belongs to a model."""

    plan: Plan  # of the model
    exported: CFiles  # as the exporter writes them with the same options
    chip: Chip  # that it was exported for
    interface: CSignature
    term: str | None  # that it computes, if it is not a whole model
    # header, source: names of the two files, without folders
    header: str
    source: str
    text: str  # of the C file as it is

    @property
    def declarations(self) -> int:
        """Number of arrays and functions that the C file defines."""
        return sum(line == "{" or line.endswith("] = {") for _, line, kind in _lines(self.text) if kind == "fixed")

    def plain_source(self) -> str:
        """Return what there is to parse, on the same lines: no comments, directives, words of tables nor their code."""
        lines = []
        for _, line, kind in _lines(self.text):
            if kind == "body":
                lines.append(_without_comment(line))
            elif kind != "fixed" or line.startswith("#") or line == "};":
                lines.append("")
            else:
                lines.append(re.sub(r"\bBDDTORQUE_\w+", lambda macro: MACROS[macro[0]], line).replace("] = {", "];"))
        return re.sub(r"/\*.*?\*/", lambda said: " " + "\n" * said[0].count("\n"), "\n".join(lines), flags=re.DOTALL)


def read_c_folder(model: Model, folder: str | Path, chip: str | None = None) -> CFolder:
    """Return the C that `export_c` wrote to a folder, or refuse what it would not have written for this model.

    Refused are files of another model, or of another chip than `chip`, and such as differ from the exporter's where
    nothing is proved.
    """
    if not isinstance(model, Model):
        raise BddTorqueError(f"model must be a Model, as bt.compile and bt.load return, got {type(model).__name__}")
    require(model, "proofs of C")
    if not isinstance(folder, str | Path):
        raise BddTorqueError(f"folder must be a path, got {type(folder).__name__}")
    options = _options(Path(folder), model)
    profile = chip_named(options["chip"])
    if chip is not None and chip_named(chip).name != profile.name:
        raise BddTorqueError(f"chip must be '{profile.name}', for which {folder} was exported, got '{chip}'")
    exported = c_files(model, vectors=1, **options)
    header, source = exported.call.header, exported.sources[0]
    _compare(header, _read(Path(folder, header)), exported.files[header])
    text = _read(Path(folder, source))
    name = Path(source).name
    _compare(name, text, exported.files[source])
    _refuse_odd_lines(name, text)
    interface = CSignature.of(model, options["io"], profile.register)
    return CFolder(model.plan, exported, profile, interface, options["term"], Path(header).name, name, text)


def _options(folder: Path, model: Model) -> dict[str, Any]:
    """Return how the C in a folder was exported from a model, as its manifest says."""
    text = _read(folder / MANIFEST)
    try:
        manifest = json.loads(text)
        digest, options = manifest["digest"], manifest["options"]
        known = all(isinstance(options[name], types) for name, types in OPTIONS.items())
        if not known or options.keys() != OPTIONS.keys():
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BddTorqueError(
            f"{folder / MANIFEST}: must have the keys 'digest' and 'options', as export_c of this version writes them: "
            "export the model again"
        ) from None
    if digest != model.digest:
        raise BddTorqueError(
            f"{folder}: must be exported from this model, with digest {model.digest:.12}..., but its digest is "
            f"{digest!s:.12}...: export this model again, or give the model that it was exported from"
        )
    return dict(options)


def _read(path: Path) -> str:
    """Return the text of an exported file, which is ASCII."""
    try:
        return path.read_bytes().decode("ascii")
    except UnicodeDecodeError as problem:
        raise BddTorqueError(f"{path}: must be ASCII, as export_c writes it, but byte {problem.start} is not") from None
    except (OSError, ValueError) as problem:
        raise BddTorqueError(f"{path}: cannot be read ({getattr(problem, 'strerror', None) or problem})") from None


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each line, the line, and its kind.

    Kinds are ``words`` of a table, ``body`` of a function that is proved, ``lookup`` for that of one that looks words
    up, and ``fixed`` for all others.
    """
    kind, end, before = "fixed", "", ""
    for number, line in enumerate(text.split("\n"), 1):
        if line == end:
            kind = "fixed"
        yield number, line, kind
        if kind == "fixed" and line == "{":
            kind, end = "lookup" if LOOKS_UP.match(before) else "body", "}"
        elif kind == "fixed" and line.endswith("] = {"):
            kind, end = "words", "};"
        before = line


def _compare(name: str, found: str, meant: str) -> None:
    """Refuse lines that are not proved and not what the exporter writes; headers have no others."""
    fixed = (
        [(number, line) for number, line, kind in _lines(text) if kind not in ("body", "words")]
        for text in (found, meant)
    )
    end = found.count("\n") + 1, "the end of the file"
    for (number, line), (_, wanted) in zip_longest(*fixed, fillvalue=end):
        if line != wanted:
            raise BddTorqueError(
                f"{name}, line {number}: must be '{wanted:.100}', as export_c of this version writes for this model, "
                f"found '{line:.100}': export again"
            )


def _without_comment(line: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", line)


def _refuse_odd_lines(name: str, text: str) -> None:
    """Refuse what would change the meaning of other lines, and words of tables that are no numbers."""
    for number, line, kind in _lines(text):
        if kind == "words" and not re.fullmatch(r"[-0-9, ]*", line):
            raise BddTorqueError(f"{name}, line {number}: a table must hold integers in decimal, found '{line:.60}'")
        odd = re.search(r"""[#"'\\]|//|/\*|\*/|\?\?""", _without_comment(line)) if kind == "body" else None
        if odd:
            raise BddTorqueError(
                f"{name}, line {number}: '{odd[0]}' is not understood: no directive, string, line splice or comment "
                "but /* ... */ on one line may stand in a function"
            )
