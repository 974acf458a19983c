"""`export_c`: a compiled model as C99 that needs no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_blocks import BlockCode, block_codes
from bddtorque.export.c_call import CCall
from bddtorque.export.c_float_steps import float_steps
from bddtorque.export.c_floats import floats_text
from bddtorque.export.c_header import header_text
from bddtorque.export.c_inputs import take_inputs
from bddtorque.export.c_measuring import Measured, find_compiler, measure
from bddtorque.export.c_names import prefix_of, safe_name
from bddtorque.export.c_packages import packaged
from bddtorque.export.c_signature import CSignature
from bddtorque.export.c_source import function_text, makefile_text, source_text
from bddtorque.export.c_steps import PlanSteps, Steps
from bddtorque.export.c_sums import Value
from bddtorque.export.c_term import TermFunction
from bddtorque.export.export_options import COptions
from bddtorque.export.folder import check_folder, with_manifest, write_folder
from bddtorque.export.selftest import check_exported, selftest_text
from bddtorque.model.model import Model
from bddtorque.plan.loads import BudgetError
from bddtorque.plan.wires import Input
from bddtorque.spec.chips import Chip, chip_named
from bddtorque.spec.field_values import as_flash
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.words.integer_range import word_range


def flash_of(model: Model, asked: int | str | None) -> int | None:
    """Return the bytes of flash that an export may take: those asked for, or the spec's; None if nobody says."""
    return model.provenance.flash if asked is None else as_flash(asked, "flash")


@contextmanager
def within_flash(model: Model, asked: int | str | None, steps: Steps, chip: Chip) -> Iterator[int]:
    """Give the bytes that tables may take beside the code; say so if the smallest ones take more."""
    flash = flash_of(model, asked)
    if flash is None:
        yield model.provenance.memory
        return
    try:
        yield max(flash - steps.code_bytes, 0)
    except BudgetError as problem:
        raise BddTorqueError(
            f"flash must hold {problem.smallest:,} bytes of tables in their smallest forms and about "
            f"{steps.code_bytes:,} of code on chip '{chip.name}', got {flash:,}: more flash or fewer bits would work",
            option="flash",
        ) from None


def check_flash(taken: int, tables: int, flash: int | None, chip: Chip) -> None:
    """Refuse code that takes more flash than it may."""
    if flash is not None and taken > flash:
        raise BddTorqueError(
            f"flash must be at least {taken:,} bytes on chip '{chip.name}', {tables:,} of them tables, got {flash:,}: "
            "more flash or fewer bits would work",
            option="flash",
        )


@dataclass(frozen=True)
class Exported:
    """What `export_c` wrote.

    Attributes
    ----------
    directory
        The folder.
    prefix
        What public names and file names begin with.
    function
        The name of the function.
    bound
        The largest proved error of its words, in their units.
    files
        Names of the files, and the bytes of each.
    forms
        Form of each table that the code reads, by its number in the plan.
    table_bytes
        Bytes of all tables together.
    constant
        Whether every state takes the same operations (in floats: every state in range).
    measured
        Bytes of ROM, RAM and stack as linked, or the reason why they are unknown.
    chip
        The processor that the code is written for.
    note
        What to know about the choice of the chip; usually empty.
    """

    directory: Path
    prefix: str
    function: str
    bound: float
    files: Mapping[str, int]
    forms: Mapping[int, str]
    table_bytes: int
    constant: bool
    measured: Measured | str
    chip: str = "generic32"
    note: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        measured = {"reason": self.measured} if isinstance(self.measured, str) else vars(self.measured)
        return {
            "directory": str(self.directory),
            "prefix": self.prefix,
            "function": self.function,
            "files": dict(self.files),
            "forms": {str(block): form for block, form in self.forms.items()},
            "table_bytes": self.table_bytes,
            "constant_sequence": self.constant,
            "measured": dict(measured),
            "chip": self.chip,
            "note": self.note,
        }


def export_c(
    model: Model,
    directory: str | PathLike[str],
    *,
    name: str | None = None,
    term: str | None = None,
    form: str = "chosen",
    flash: int | str | None = None,
    floats: bool = False,
    vectors: int = 256,
    force: bool = False,
    compiler: str | None = None,
    chip: str | None = None,
    io: int = 32,
    package: str | None = None,
) -> Exported:
    """Write a model as C99: integers or IEEE floats, const tables, no heap, no libm.

    Parameters
    ----------
    model
        Any compiled model.
    directory
        A folder to create, or the folder of an earlier export, which is replaced.
    name
        What the names of functions and files begin with; by default the robot's name.
    term
        Write only this term, such as ``"C1_22"`` (`bddtorque terms` lists the names), as a function of its own input
        words. The model must come from the source ``"terms"``.
    form
        Form of the tables: ``"chosen"`` (cheapest within `flash`), ``"dense"``, ``"folded"``, ``"edge_valued"`` or
        ``"bits"``; or ``"ifs"``: code instead of tables, one test and branch per diagram node.
    flash
        Most bytes that tables and code may take, or text such as ``"16 kB"``; by default the value of the spec. If
        the chip's compiler is installed, the compiled size is measured and an export that takes more is rejected.
    floats
        Add a function that takes and returns physical units.
    vectors
        Number of states in the self-test, 1 to 100,000.
    force
        Write into a folder that holds other files; these are kept.
    compiler
        The command that measures the size; by default the chip's compiler, else CC from the environment, cc, gcc or
        clang.
    chip
        Write the arithmetic that is cheapest on this processor; by default the one the plan was made for, or any
        32-bit processor.
    io
        Bits of the integers that carry words: 16 or 32.
    package
        ``"arduino"``, ``"platformio"``, ``"cmake"`` or ``"zephyr"``: write a library for such a project, with an
        example, instead of a plain folder.

    Returns
    -------
    Exported
        The files and what is known about them.

    Raises
    ------
    BddTorqueError
        The export is impossible; nothing was written.
    """
    check_exported(model)
    options = COptions(
        name=name, term=term, form=form, flash=flash, floats=floats, vectors=vectors, chip=chip, io=io, package=package
    )
    profile = chip_of(model, chip)
    command = find_compiler(compiler, profile)
    target = Path(directory)
    check_folder(target.resolve(), force)
    code = write_c(model, options)
    measured = measure(code.files, code.sources, code.call, command) if command else "no C compiler found"
    if isinstance(measured, Measured) and compiler is None and profile.tools:
        check_flash(measured.rom, code.table_bytes, flash_of(model, flash), profile)
    write_folder(target, code.files, force)
    return Exported(
        target,
        code.prefix,
        code.function,
        code.bound,
        {each: len(text) for each, text in code.files.items()},
        {block.number: block.form for block in code.blocks},
        code.table_bytes,
        all(block.constant for block in code.blocks),
        measured,
        profile.name,
        _chip_note(model, profile),
    )


def chip_of(model: Model, name: str | None) -> Chip:
    """Return the chip that C is written for: the one named, or what the plan was made for, or any of 32 bits."""
    return chip_named(name or model.provenance.chip or ANY_CHIP)


def _chip_note(model: Model, chip: Chip) -> str:
    """Return a warning where a plan in integers was made for another chip."""
    planned = chip_of(model, None).name
    if not model.plan.multiplies_integers or planned in (chip.name, ANY_CHIP):
        return ""
    return f"planned for chip '{planned}': compile with --chip {chip.name} for word lengths that suit this one"


@dataclass(frozen=True)
class CFiles:
    """What an export writes: files by name, the tables in them, and which files are the code; else as `Exported`."""

    files: dict[str, str]
    blocks: list[BlockCode]
    sources: list[str]
    prefix: str
    function: str
    bound: float
    table_bytes: int
    call: CCall


def c_files(model: Model, **options: Any) -> CFiles:
    """Return what an export writes. A model gives the same each time. Options are the fields of `COptions`."""
    return write_c(model, COptions(**options))


def write_c(model: Model, options: COptions) -> CFiles:
    """Return what an export writes."""
    profile = chip_of(model, options.chip)
    alone = None if options.term is None else TermFunction.of(model, options.term)
    prefix = prefix_of(model.name, options.name)
    if alone and options.name is None:
        prefix = f"{prefix}_{safe_name(alone.name).lower()}"
    signature = CSignature.of(model, options.io, profile.register)
    steps = alone.steps(profile) if alone else _steps(model, profile, signature)
    with within_flash(model, options.flash, steps, profile) as budget:
        blocks = block_codes(model, steps.blocks, options.form, budget, profile)
    function = alone.function_text(prefix, steps.lines) if alone else function_text(prefix, signature, steps.lines)
    files = {
        f"{prefix}.h": alone.header_text(prefix) if alone else header_text(model, prefix, signature, options.floats),
        f"{prefix}.c": source_text(prefix, function, steps, blocks, signature),
        f"{prefix}_selftest.c": alone.selftest_text(prefix, options.vectors)
        if alone
        else selftest_text(model, prefix, signature, options.vectors, options.floats),
        "Makefile": makefile_text(prefix, options.floats, steps.libraries),
    }
    if options.floats:
        files[f"{prefix}_float.c"] = floats_text(prefix, signature)
    call = (alone or signature).call(prefix)
    sources = [f"{prefix}.c", *([f"{prefix}_float.c"] if options.floats else [])]
    if options.package is not None:
        files = packaged(options.package, files, prefix, signature, steps.libraries)
        sources = [f"src/{name}" for name in sources]
        call = replace(call, header=f"src/{call.header}", sources=tuple(f"src/{name}" for name in call.sources))
    flash, floats = flash_of(model, options.flash), bool(options.floats)
    said = replace(options, name=prefix, flash=flash, floats=floats, chip=profile.name, io=int(options.io))
    files = with_manifest(
        files, model.digest, "build" if options.package else f"{prefix}_selftest",
        **({"term": alone.name} if alone else {}),
        options={name: value for name, value in asdict(said).items() if name != "vectors"},
        forms={str(block.number): block.form for block in blocks}, call=call.to_plain(),
    )  # fmt: skip
    called = prefix if alone else f"{prefix}_{signature.function}"
    bound = alone.bound if alone else max(model.certificate.bounds)
    table_bytes = sum(block.bytes for block in blocks) + sum(array.bytes for array in steps.arrays)
    return CFiles(files, blocks, sources, prefix, called, bound, table_bytes, call)


def _steps(model: Model, chip: Chip, signature: CSignature) -> Steps:
    """Return the statements from input words to output words."""
    if model.plan.in_floats:
        wires = ((k, wire) for k in model.plan.read if isinstance(wire := model.plan.wires[k], Input))
        words = {wire.name: Value(f"w{k}", word_range(32), 32) for k, wire in wires}
        return float_steps(model.plan, take_inputs(signature, words), signature)
    steps = PlanSteps(model.plan, model.tables, chip)
    return steps.steps(take_inputs(signature, steps.inputs), signature)
