"""`export_c`: a compiled model as C99 that needs no library, and what it takes as a compiler makes it.

Measured are bytes of ROM and RAM of a linked program, and bytes of stack from the compiler.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.system import scratch_folder
from bddtorque.export.c_blocks import BlockCode, block_codes
from bddtorque.export.c_call import CCall, CSignature, header_text, model_prefix
from bddtorque.export.c_float_steps import float_steps
from bddtorque.export.c_source import floats_text, function_text, makefile_text, packaged, source_text
from bddtorque.export.c_steps import PlanSteps, Steps, take_inputs
from bddtorque.export.c_sums import Value
from bddtorque.export.c_term import TermFunction
from bddtorque.export.c_text import HelperCalls, safe_name
from bddtorque.export.export_options import COptions
from bddtorque.export.folder import check_folder, with_manifest, write_folder
from bddtorque.export.selftest import check_exported, selftest_text
from bddtorque.model.model import Model
from bddtorque.plan.plan_cost import BudgetError
from bddtorque.plan.wires import Input
from bddtorque.spec.chips import Chip, chip_named
from bddtorque.spec.field_values import as_flash
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.tables.cost import flash_refusal, room_on
from bddtorque.words.integer_range import word_range

FLAGS = ("-std=gnu99", "-O2", "-ffp-contract=off", "-fno-asynchronous-unwind-tables")
"""Tables by which a debugger or C++ would unwind the stack are no part of what runs."""
LINK = ("-ffunction-sections", "-fdata-sections", "-nostartfiles", "-Wl,--gc-sections,-e,main")
"""A program without what starts it."""
SECONDS = 300


@dataclass(frozen=True)
class Measured:
    """Sizes of the compiled sources, in bytes."""

    compiler: str  # the command, and the flags it was given
    rom: int  # what the function adds to a program: code, tables, initial values, library functions that it calls
    ram: int  # variables that it adds, and tables that a start-up copies to RAM
    stack: int | None  # frames of the function and of what it calls, at most; None where the compiler does not tell


def find_compiler(wanted: str | None, chip: Chip | None = None) -> list[str] | None:
    """Return the command of a C compiler: the one `wanted`, or the chip's; or CC of the environment, cc, gcc, clang."""
    if not wanted and chip is not None and chip.tools:
        return [f"{chip.tools}gcc", *chip.flags] if shutil.which(f"{chip.tools}gcc") else None
    for name in [wanted] if wanted else [os.environ.get("CC", ""), "cc", "gcc", "clang"]:
        try:
            command = shlex.split(name or "")
        except ValueError:
            continue
        if command and shutil.which(command[0]):
            return command
    if wanted:
        raise BddTorqueError(one_line(f"compiler must be a C compiler that is installed, got {wanted!r:.80}"))
    return None


def measure(files: Mapping[str, str], names: Sequence[str], call: CCall, command: Sequence[str]) -> Measured | str:
    """Link the files `names` among others into a program and return what they add to it, or why that is not known."""
    compiler, given = command[0], list(command[1:])
    with scratch_folder() as here:
        for name, text in files.items():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text(text, encoding="ascii")
        (here / "stub.c").write_text(call.stub_text())
        (here / "main.c").write_text(f"{call.call_text()}\nint main(void) {{ for (;;) call(); }}\n")
        told = True
        for name in names:
            problem = _run([compiler, *FLAGS, *given, "-fstack-usage", "-c", name], here)
            if isinstance(problem, str):  # perhaps it knows no -fstack-usage
                told = False
                problem = _run([compiler, *FLAGS, *given, "-c", name], here)
            if isinstance(problem, str):
                return problem
        frames = "".join(path.read_text() for path in sorted(here.rglob("*.su"))) if told else ""
        sizes = []
        for program, sources in (("whole", names), ("empty", ["stub.c"])):
            problem = _run([compiler, *FLAGS, *given, *LINK, "main.c", *sources, "-o", program, "-lm"], here)
            if isinstance(problem, str):
                return problem
            shown = _run([_size_tool(command, here), program], here)
            row = (
                None
                if isinstance(shown, str)
                else re.search(r"^\s*(\d+)\s+(\d+)\s+(\d+)\s", shown.stdout, re.MULTILINE)
            )
            if row is None:
                return "the tool 'size' says nothing that can be read"
            sizes.append([int(number) for number in row.groups()])
        code, data, bss = (whole - empty for whole, empty in zip(*sizes, strict=True))
        return Measured(" ".join([compiler, *FLAGS, *given]), code + data, data + bss, stack_of(frames))


def stack_of(usage: str) -> int | None:
    """Return the deepest stack from what -fstack-usage wrote: of functions that call one another, one of each kind.

    The function in floats (in NAME_float.c) calls that in words or quantised; that calls partial_products_K, which
    calls block_K; other helpers call nothing.
    """
    depth: dict[str, int] = {}
    for line in usage.splitlines():
        told = re.fullmatch(r"(?:.*/)?([^/:]*):.*?:?([A-Za-z0-9_.]+)\t(\d+)\t\S+", line)
        if told:
            file, name = told[1], told[2].split(".")[0]
            public = file.endswith("_float.c") and name.startswith(file.removesuffix("_float.c"))
            kind = "floats" if public else "words" if name.endswith("_words") and name != "clamp_words" else ""
            kind = kind or next((k for k in ("partial_products_", "block_") if name.startswith(k)), "helper")
            depth[kind] = max(depth.get(kind, 0), int(told[3]))
    return sum(depth.values()) if depth else None


def _size_tool(command: Sequence[str], folder: Path) -> str:
    """Return the tool `size` that belongs to a compiler: a cross compiler has its own."""
    told = _run([*command, "-print-prog-name=size"], folder)
    return "size" if isinstance(told, str) else told.stdout.strip() or "size"


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str] | str:
    """Return what a command said, or in one line why it did not do."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return one_line(f"{command[0]}: {problem}")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["failed"]
        said = next((line for line in lines if "error" in line or "overflow" in line), lines[0])
        return one_line(f"{command[0]}: {said}")
    return done


def flash_of(model: Model, asked: int | str | None) -> int | None:
    """Return the bytes of flash that an export may take: those asked for, or the spec's; None if nobody says."""
    return model.provenance.flash if asked is None else as_flash(asked, "flash")


def blocks_within_flash(model: Model, options: COptions, steps: Steps, chip: Chip) -> list[BlockCode]:
    """Return the tables as C, in no more than the code leaves of the flash; say so if the smallest ones take more."""
    flash = room_on(chip, flash_of(model, options.flash))
    memory = model.provenance.memory if flash is None else max(flash - steps.code_bytes, 0)
    try:
        return block_codes(model, steps.blocks, options.form, memory, chip, steps.code_bytes)
    except BudgetError as problem:
        raise problem if flash is None else flash_refusal(problem.smallest, steps.code_bytes, flash, chip) from None


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
    """The files of `export_c`, and facts about them.

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
    bound_si, unit
        Of a term: its bound in the unit of its torque, and that unit.
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
    bound_si: float | None = None
    unit: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        measured = {"reason": self.measured} if isinstance(self.measured, str) else vars(self.measured)
        of_term = {"bound": self.bound, "bound_si": self.bound_si, "unit": self.unit}
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
            **({} if self.bound_si is None else of_term),
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
        Form of the tables: ``"chosen"`` (cheapest within `flash`), ``"dense"``, ``"folded"``, ``"runs"``,
        ``"edge_valued"`` or ``"bits"``; or ``"ifs"``: code instead of tables, one test and branch per diagram node.
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
    profile = chip_of(model, chip)
    command = find_compiler(compiler, profile)
    target = Path(directory)
    check_folder(target, force)
    code = c_files(
        model, name=name, term=term, form=form, flash=flash, floats=floats, vectors=vectors, chip=chip, io=io,
        package=package,
    )  # fmt: skip
    measured = measure(code.files, code.sources, code.call, command) if command else "no C compiler found"
    if isinstance(measured, Measured) and compiler is None and profile.tools:
        check_flash(measured.rom, code.table_bytes, room_on(profile, flash_of(model, flash)), profile)
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
        code.bound_si,
        code.unit,
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
    """Files of an export by name, the tables in them, and which files are the code; else as `Exported`."""

    files: dict[str, str]
    blocks: list[BlockCode]
    sources: list[str]
    prefix: str
    function: str
    bound: float
    table_bytes: int
    call: CCall
    bound_si: float | None
    unit: str


def c_files(model: Model, **asked: Any) -> CFiles:
    """Return what an export writes. A model gives the same each time. Options are the fields of `COptions`."""
    options = COptions(**asked)
    profile = chip_of(model, options.chip)
    alone = None if options.term is None else TermFunction.of(model, options.term)
    prefix = model_prefix(model, options.name)
    if alone and options.name is None:
        prefix = f"{prefix}_{safe_name(alone.name).lower()}"
    signature = CSignature.of(model, options.io, profile.register)
    steps = alone.steps(profile) if alone else _steps(model, profile, signature)
    blocks = blocks_within_flash(model, options, steps, profile)
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
    called = prefix if alone else signature.function(prefix)
    bound = alone.bound if alone else max(model.certificate.bounds)
    table_bytes = sum(block.bytes for block in blocks) + sum(array.bytes for array in steps.arrays)
    own = (alone.bound_si, alone.torque.unit) if alone else (None, "")
    return CFiles(files, blocks, sources, prefix, called, bound, table_bytes, call, *own)


def _steps(model: Model, chip: Chip, signature: CSignature) -> Steps:
    """Return the statements from input words to output words."""
    if model.plan.in_floats:
        wires = ((k, wire) for k in model.plan.read if isinstance(wire := model.plan.wires[k], Input))
        words = {wire.name: Value(f"w{k}", word_range(32), 32) for k, wire in wires}
        calls = HelperCalls()
        return float_steps(model.plan, take_inputs(signature, words, calls), signature, calls)
    steps = PlanSteps(model.plan, model.tables, chip)
    return steps.steps(take_inputs(signature, steps.inputs, steps.calls), signature)
