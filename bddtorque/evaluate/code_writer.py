"""`CodeWriter`: writes the source of straight-line code; `Straight`: the code that it becomes.

Modules are written to real files (Numba keeps compiled code only for functions that stand in one) and imported. Their
source holds nothing but numbers and names of our own making, whatever file a plan came from. A file is named by its
content, and written anew whenever it is missing or altered. Numba looks at that file alone when it decides whether what
it kept is still good, so the file also tells which state of our own code it calls.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.caching import cache_directory
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole
from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.evaluate.statements import Statement, array_names, cut, input_words, is_large
from bddtorque.plan.plan import Plan
from bddtorque.words.interface import Interface

DECORATOR = '@njit(cache=True, nogil=True, _nrt=False, error_model="numpy")\n'
"""No fast-math flag: every operation is rounded as it stands."""


@dataclass(frozen=True)
class Straight:
    """Straight-line code of a plan, compiled when first called, and its tables."""

    states: Callable[..., None]
    bare: Callable[..., None]
    table: npt.NDArray[Any]  # what all take as such
    # tiles, columns: many states at once (see `float_straight`); None where words are integers
    tiles: Callable[..., None] | None = None
    columns: Callable[..., None] | None = None
    unchecked: Callable[..., None] | None = None  # as `bare`, for words in range; None where there is no such function
    room: int = 0  # how many floats a tile needs in memory
    # tile, kind: states of a tile, and the type of its floats
    tile: int = 1
    kind: Any = np.float64
    kept: Any = ()  # must live as long as the code


class CodeWriter:
    """The module of a plan, function by function."""

    def __init__(self, plan: Plan, formats: Interface, header: str) -> None:
        self.wires, self.arrays = len(plan.wires), StateArrays(formats)
        self.inputs, unread = input_words(plan, self.arrays)
        self.counted = [*self.inputs, *unread]
        self.names = array_names(self.arrays)  # what arrays are called that go in
        self.outputs = range(len(plan.outputs))
        self.functions = [header]  # what is written to a file
        self.parts = 0  # how many functions statements were cut into, 0 if none were
        self.flat: set[str] = set()  # arrays of states that functions of lanes take with one dimension, called <name>_
        self._state: list[str] = []
        self._places: dict[str, str] = {}
        self._space: list[str] = []

    @property
    def taken_apart(self) -> str:
        """The statement that gives the arrays of a tuple their names."""
        return f"{', '.join(self.names)}, = arrays"

    @property
    def text(self) -> str:
        """The source of the module."""
        return "\n\n".join(self.functions)

    def module(self, directory: Path) -> ModuleType:
        """Return the module, found in `directory` or written to it."""
        return generated_module(self.text, directory, self.wires, self.parts)

    def add(self, head: str, body: Sequence[str], decorator: str = DECORATOR) -> None:
        """Add a function."""
        self.functions.append("\n".join([f"{decorator}def {head}:", *indented(body), ""]))

    def add_parts(
        self, name: str, arguments: Sequence[str], bodies: Iterable[Sequence[str]], lanes: int = 0
    ) -> list[str]:
        """Add functions, and return the statements that call them; see `add_block`."""
        calls: list[str] = []
        for number, body in enumerate(bodies):
            self.add_block(f"block_{name}{number}", arguments, body, lanes=lanes)
            given = ", ".join(arguments)
            begin = ["align_stack()"] if lanes else []
            self.add(f"{name}{number}({given})", [*begin, f"block_{name}{number}({given})"])
            calls.append(self._call(f"{name}{number}", arguments, lanes))
        self.parts += len(calls)
        return calls

    def add_block(
        self,
        name: str,
        arguments: Sequence[str],
        statements: Sequence[str],
        results: Sequence[str] = (),
        lanes: int = 0,
    ) -> str:
        """Add statements as a function of words and arrays, and return the call.

        They are about one state (see `llvm_code`), or about as many as there are `lanes` (see `LaneWriter`).
        """
        head = f"{name}({', '.join(arguments)})"
        call = self._call(name, arguments, lanes)
        if DISABLE_JIT:
            self.add(head, [*statements, f"return {', '.join(results)}," if results else "return"], "")
            return call
        given = ", ".join(f"{each}={each}" for each in arguments)
        lines = "\n".join(["", *statements])
        emit, end = ("emitted_in_lanes", f", {lanes}") if lanes else ("emitted", "")
        block = f'return {emit}("""{lines}""", {tuple(results)}, real, dict({given}){end})'
        self.functions.append(f"@intrinsic\ndef {name}(typing, {', '.join(arguments)}):\n    {block}\n")
        return call

    def _call(self, name: str, arguments: Sequence[str], lanes: int) -> str:
        """Return the call of a function; what takes lanes of states is given arrays as they lie in memory (`flat`)."""
        given = (f"{each}_" if lanes and each in self.flat else each for each in arguments)
        return f"{name}({', '.join(given)})"

    def write_state(self, statements: Sequence[Statement], anywhere: Sequence[Statement], real: str = "") -> None:
        """Write what functions added by `add_states` do with a state: from x<k>, the inputs, to r<k>, the outputs.

        Parameters
        ----------
        statements
            They set r<k>; cut into functions if they are many.
        anywhere
            Statements that each function does for itself (see `cut`).
        real
            The type of what is not named x<k>, i<k> or r<k>; without it all are integers.
        """
        if DISABLE_JIT or not is_large([*anywhere, *statements]):
            self._state = self._add_text("state", list(map(str, [*anywhere, *statements])))
            return
        names = [*(f"x{word.wire}" for word in self.inputs), *(f"r{k}" for k in self.outputs)]
        self._places = places = {name: f"ints[{k}]" for k, name in enumerate(names)}
        sizes = {"ints": len(places), **({"reals": 0} if real else {})}

        def new_place(name: str) -> str:
            kind = "ints" if name[0] in "xir" or not real else "reals"
            sizes[kind] += 1
            return f"{kind}[{sizes[kind] - 1}]"

        self._state = self.add_parts("part", [*sizes, "table"], cut(statements, anywhere, dict(places), new_place))
        self._space = [
            f"{kind} = array_at(space_of({size}), ({size},), np.{dtype})"
            for (kind, size), dtype in zip(sizes.items(), ("int64", real), strict=False)
        ]

    def add_states(
        self, name: str, counting: bool, load: Sequence[str], finish: Sequence[str] = (), decorator: str = DECORATOR
    ) -> None:
        """Add a function of states, one after another, whose words are loaded and whose outputs finished like this."""
        more = ["out", "table", *(["counts"] if counting else [])]
        given = [*self.names, *more]
        finish = [*finish, *(f"out[s, {k}] = r{k}" for k in self.outputs)]
        if not self.parts:
            calls = [self.add_block(f"{name}_state", [*given, "s"], [*load, *self._state, *finish])]
        else:
            keep = [f"{place} = {word}" for word, place in self._places.items() if word.startswith("x")]
            take = [f"{word} = {place}" for word, place in self._places.items() if word.startswith("r")]
            calls = [
                self.add_block(f"{name}_load", [*given, "s", "ints"], [*load, *keep]),
                *self._state,
                self.add_block(f"{name}_finish", ["out", "s", "ints"], [*take, *finish]),
            ]
        loop = ["for s in range(out.shape[0]):", *indented(calls)]
        self.add(f"{name}({', '.join(['arrays', *more])})", [self.taken_apart, *self._space, *loop], decorator)

    def _add_text(self, name: str, statements: Sequence[str]) -> list[str]:
        """Add statements that several blocks have, once, and return what stands for them there."""
        if DISABLE_JIT:
            return list(statements)
        self.functions.append("\n".join([f'{name} = """', *statements, '"""']))
        return [f'""" + {name} + """']


def indented(lines: Iterable[str]) -> list[str]:
    """Return statements as the body of another one."""
    return [f"    {line}" for line in lines]


_making = threading.Lock()


def generated_module(source: str, directory: Path, wires: int = 0, parts: int = 0) -> ModuleType:
    """Return a module of this source, from its file in `directory`.

    If it is not there yet, the log says what is waited for: code for so many wires, which seconds are spent on where
    somebody sees it, and minutes everywhere, where it is cut into parts.
    """
    source += f"\n# calls bddtorque {_called()}\n"
    name = f"plan_{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    with _making:  # Numba wants a module to be known while it is made, and other threads must not take half of it
        if name in sys.modules:
            return sys.modules[name]
        note = f"compiling code for a plan of {wires} wires: {'minutes' if parts else 'seconds'}, once"
        path = _written(source, directory, name, note if parts or (wires and _interactive()) else "")
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _interactive() -> bool:
    """Tell whether somebody sees the log: a terminal, or a prompt, as notebooks have one too."""
    return hasattr(sys, "ps1") or (sys.stderr is not None and sys.stderr.isatty())


def _renew_lock() -> None:
    """Start with a free lock in a forked child: the thread that held it is not there."""
    global _making  # noqa: PLW0603
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def plans_folder() -> Path:
    """Return the folder where the code of plans is kept: in the cache, else one that goes when this process ends."""
    kept = cache_directory()
    return private_folder() if kept is None else kept / "plans"


@cache
def private_folder() -> Path:
    """Return a new folder that nobody else can have prepared; it goes when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="bddtorque-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder, unless this is but a child of the process that made it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _called() -> str:
    """Return what tells the code that generated modules can call from any other state of it."""
    evaluate = Path(__file__).parent
    package = evaluate.parent
    try:
        files = [*sorted(evaluate.glob("*.py")), *sorted((package / "words").glob("*.py")), package / "base" / "jit.py"]
        return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()
    except OSError:
        return "unknown"


def _written(source: str, directory: Path, name: str, note: str) -> Path:
    """Return the file with exactly this source: an altered one is replaced, and an unusable folder by a private one."""
    for wanted in (directory, None):
        try:
            folder = wanted or private_folder()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder / f"{name}.py"
            if not path.exists() or path.read_text() != source:
                write_whole(path, source.encode())
                if note:
                    logging.getLogger("bddtorque").warning(note)
            return path
        except (OSError, BddTorqueError):
            continue
    raise OSError("no folder to write compiled plans to")
