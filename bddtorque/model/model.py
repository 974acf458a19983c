"""`Model`: a compiled robot or function. It needs NumPy and Numba, and nothing of the compiler."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bddtorque.base.archive import read_file
from bddtorque.base.errors import BddTorqueError, WrongKindError, one_line
from bddtorque.base.files import write_whole
from bddtorque.base.measures import parse_size
from bddtorque.base.plain import real, vector
from bddtorque.base.version import __version__
from bddtorque.base.workers import Progress
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.run_time.payload_input import payload_values
from bddtorque.evaluate.evaluator import Evaluator
from bddtorque.evaluate.runners import OnRange, SpreadBy
from bddtorque.model.bdt_file import MEMORY, decode, encode, sections
from bddtorque.model.exhaustive import exhaustive_error
from bddtorque.model.provenance import Provenance
from bddtorque.model.shown_model import html_of, main_figures, one_line_of
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate
from bddtorque.robots.robot import Robot
from bddtorque.spec.drives import DriveWords
from bddtorque.spec.field_values import as_inertia
from bddtorque.spec.spec import Spec
from bddtorque.words.formats import Floats, Words
from bddtorque.words.interface import Interface

PAYLOAD = "payload"
"""The array of the words of a payload that is given at run time."""


class TorqueCall(Protocol):
    """The type of `Model.torque`."""

    def __call__(self, q: Any, qd: Any = 0, qdd: Any = 0) -> Floats:
        """Return torques (n,) or (N, n)."""


class TorqueWordsCall(Protocol):
    """The type of `Model.torque_words`."""

    def __call__(self, q: Any, qd: Any = None, qdd: Any = None, out: Words | None = None) -> Words:
        """Return torque words (n,) or (N, n)."""


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled function of words: its words, its plan, its tables and diagrams, and its certificate.

    `compile`, `compile_function`, `compile_samples` and `load` return it. It is immutable. Every model has `value`,
    `words`, `kernel` and `formats`; torques of a robot can also be had by `torque` and `torque_words`. Using a member
    of another kind of model raises `BddTorqueError`.

    Attributes
    ----------
    formats
        The words: an `Interface` of the arrays that go in and come out.
    provenance
        Where it comes from: a robot and its spec, or a function.
    plan
        The plan: every wire and block.
    tables
        One table per block of the plan.
    diagrams
        One decision diagram per block of the plan.
    certificate
        What is proved.
    report
        How compiling went: seconds, memory, notes. Empty for a loaded model; not part of the digest.
    """

    formats: Interface
    provenance: Provenance
    plan: Plan
    tables: tuple[Table, ...]
    diagrams: tuple[Diagram, ...]
    certificate: Certificate
    report: dict[str, Any] = field(default_factory=dict, compare=False)

    def require_torque(self, where: str = "") -> None:
        """Refuse a model of anything but the torques of q, qd and qdd, by an error that starts with `where`."""
        if self.provenance.is_torque:
            return
        self.provenance.require_robot(where)
        takes = ", ".join(array.name for array in self.formats.inputs)
        use = "" if where else f": use value({takes}) or words({takes})"
        what = f"'{self.name:.60}' is compiled for {self.provenance.what}, not for the torques of q, qd and qdd"
        raise WrongKindError(f"{where}{where and ': '}{what}{use}")

    def require_function(self) -> None:
        """Refuse a model of a robot."""
        if self.provenance.robot is not None:
            use = "use torque(...) or torque_words(...)" if self.provenance.is_torque else "its words are in `formats`"
            raise WrongKindError(f"'{self.name:.60}' is a compiled robot, not a function: {use}")

    def word_plan(self, what: str) -> Plan:
        """Return the plan of a model for the target ``"tables"``; refuse others, for `what` needs its tables."""
        return self.plan.require_tables(what, self.name)

    @property
    def name(self) -> str:
        """The name of the robot or of the function."""
        return self.provenance.name

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.provenance.require_robot()[0]

    @property
    def spec(self) -> Spec:
        """The specification it was compiled from."""
        return self.provenance.require_robot()[1]

    @property
    def quantity(self) -> str:
        """The compiled quantity of the robot: ``"torque"``, ``"gravity"``, ..."""
        return self.spec.quantity

    @property
    def drives(self) -> tuple[DriveWords, ...]:
        """For joints with a drive in the spec: how to get words from encoder counts, and currents from words."""
        return self.provenance.drive_words(self.formats)

    @property
    def accuracy(self) -> float:
        """The allowed error, in units of the last bit."""
        return self.provenance.accuracy

    @property
    def graph(self) -> Graph | None:
        """The traced function over the names of its inputs; None if it was not traced."""
        self.require_function()
        return self.provenance.graph

    @property
    def rules(self) -> dict[str, Any]:
        """Rules by which the samples of a function were read, by name; empty if there were none."""
        self.require_function()
        return self.provenance.rules

    @property
    def memory(self) -> int:
        """The memory budget for the blocks, in bytes."""
        return self.provenance.memory

    def true_values(self, words: Mapping[str, Words | Floats]) -> Floats | None:
        """Return the true outputs (N, outputs) in float64, in SI units, at words (N,) by the names of input words.

        Floats in the place of words are units between words. None where nobody knows them but the function that was
        compiled.
        """
        return self.provenance.true_values(self.formats, words, self.plan.blocks)

    def true_units(self, words: Mapping[str, Words | Floats]) -> Floats | None:
        """Return the true outputs in units of their words, neither rounded nor clamped; as `true_values`."""
        values = self.true_values(words)
        if values is None:
            return None
        outputs = self.formats.results.values()
        return np.stack([word.units(values[:, k]) for k, word in enumerate(outputs)], axis=1)

    def evaluator(
        self,
        kind: str = "words",
        form: str | None = None,
        on_range: OnRange = "warn",
        processors: int | None = None,
        spread: SpreadBy = "states",
    ) -> Evaluator:
        """Return an evaluator with its own counts.

        Parameters
        ----------
        kind
            ``"words"``, ``"bits"`` or ``"parallel"``.
        form
            A form of the blocks; the fastest by default.
        on_range
            What to do with numbers out of range: ``"warn"``, ``"saturate"`` or ``"raise"``.
        processors
            For ``"parallel"``: how many processors share the work.
        spread
            For ``"parallel"``: what they share, ``"states"``, ``"terms"`` or ``"bits"``.

        Returns
        -------
        Evaluator
            See there for the parameters in full.
        """
        return Evaluator(self, kind, form, on_range, processors, spread)

    @cached_property
    def _evaluator(self) -> Evaluator:
        return self.evaluator("words")

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: a copy makes its own evaluator, and whatever else follows from them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    # Calls are those of the evaluator itself, found once: one call less, which single states would notice.

    @cached_property
    def torque(self) -> TorqueCall:
        """Return the torques of states in floats, computed through the words: ``torque(q, qd=0, qdd=0)``.

        See `Evaluator.torque`.

        Parameters
        ----------
        q
            Positions, rad or m, shape (n,) or (N, n).
        qd
            Velocities, rad/s or m/s; zero by default.
        qdd
            Accelerations, rad/s² or m/s²; zero by default.

        Returns
        -------
        array of float64
            Torques, N·m or N, shape (n,) or (N, n).
        """
        return self._evaluator.torque

    @cached_property
    def torque_words(self) -> TorqueWordsCall:
        """Return the torque words of input words: ``torque_words(q, qd=None, qdd=None, out=None)``.

        See `Evaluator.torque_words`.

        Parameters
        ----------
        q
            Position words, integers of shape (n,) or (N, n).
        qd
            Velocity words; those of zero velocity by default.
        qdd
            Acceleration words; those of zero acceleration by default.
        out
            An int64 array of the result's shape that receives the torque words.

        Returns
        -------
        array of int64
            Torque words, shape (n,) or (N, n).
        """
        return self._evaluator.torque_words

    @cached_property
    def value(self) -> Callable[..., Any]:
        """Return the outputs at floats, computed through the words, of any model; see `Evaluator.value`."""
        return self._evaluator.value

    @cached_property
    def words(self) -> Callable[..., Any]:
        """Return the output words at input words, of any model; see `Evaluator.words`."""
        return self._evaluator.words

    def payload(
        self, mass: float, centre_of_mass: Sequence[float] = (0.0, 0.0, 0.0), inertia: Any = None
    ) -> npt.NDArray[np.float64]:
        """Return the numbers of a payload as `value` takes them, for a model with a payload at run time.

        Parameters
        ----------
        mass
            Mass in kg.
        centre_of_mass
            x, y and z in m, in the tip frame.
        inertia
            kg·m² about the centre of mass: three principal moments or 3 rows of 3. A point mass by default.

        Returns
        -------
        array of float64
            One number per word of the payload.

        Raises
        ------
        BddTorqueError
            The payload is outside of the box that was compiled.
        """
        if all(array.name != PAYLOAD for array in self.formats.inputs):
            use = "payload = { mass = [0, 5], runtime = true }"
            raise BddTorqueError(f"'{self.name:.60}' has no payload at run time: compile it with {use}")
        moments = None if inertia is None else as_inertia(inertia, "inertia")
        centre = vector(centre_of_mass, "centre_of_mass", "x, y and z in m")
        at_rest = self.spec.record.at_rest
        return payload_values(self.formats[PAYLOAD], at_rest, real(mass, "mass", low=0.0), centre, moments)

    def warm_up(self, progress: Progress | None = None) -> None:
        """Compile now, and keep on disk, what the first torques would wait for.

        Parameters
        ----------
        progress
            Receives a call for every step.
        """
        self._evaluator.warm_up(progress)

    def kernel(self, kind: str = "words", checked: bool = True) -> Callable[..., Any]:
        """Return a compiled function for your own `numba.njit` loop.

        For torques: ``kernel(q, qd, qdd, tau)`` on word arrays (n,), which writes `tau`. For any quantity:
        ``kernel(q, ..., out)`` on its input arrays, with all output words in one array. For a function:
        ``word = kernel(word, ...)``.

        Parameters
        ----------
        kind
            The evaluator that the kernel belongs to.
        checked
            Clamp words to their range. False (only for the target ``"float"``) trusts that they are in range.

        Returns
        -------
        callable
            It allocates nothing, releases the GIL and counts nothing.
        """
        return (self._evaluator if kind == "words" else self.evaluator(kind)).make_kernel(checked)

    def error_of(self, function: Callable[..., Any]) -> float:
        """Return the largest |compiled − clamp(function)| over every combination of a function's input words, in units.

        Parameters
        ----------
        function
            The function to compare with; it is called with floats or arrays of floats.
        """
        self.require_function()
        return exhaustive_error(self.name, self.formats, self.words, function)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what determines the words; the same whichever engine built the diagrams."""
        text = json.dumps(self.defining(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def diagram_digest(self) -> str:
        """SHA-256 of the diagrams; the same for one engine and version."""
        return hashlib.sha256("".join(diagram.content_key for diagram in self.diagrams).encode()).hexdigest()

    def defining(self) -> dict[str, Any]:
        """Return everything that the digest covers as plain data, by the names of a file's sections."""
        return sections(self.formats, self.provenance, self.plan, self.certificate, self.tables)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a .bdt file. An interrupted save leaves no partial file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        write_whole(path, to_bytes(self))

    def summary(self) -> dict[str, Any]:
        """Return the main figures as a dict: bits, blocks, rows, nodes, bytes, bounds."""
        return main_figures(self)

    def __repr__(self) -> str:
        return one_line_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)


def to_bytes(model: Model, package: str = __version__) -> bytes:
    """Return the file of a model, byte for byte the same each time; `package` is the version that wrote it."""
    digests = model.digest, model.diagram_digest
    return encode(model.name, digests, model.defining(), model.diagrams, package)


def load(path: str | PathLike[str], memory: int | str = MEMORY) -> Model:
    """Return the model in a .bdt file, a compiled robot or a compiled function. Needs only NumPy and Numba.

    Parameters
    ----------
    path
        The file.
    memory
        Most memory that its tables may take, in bytes or as text such as ``"8 GiB"``.

    Returns
    -------
    Model
        The model, checked to the last byte.

    Raises
    ------
    BddTorqueError
        The file is truncated, altered, of another kind, from a newer version, or needs more than `memory`.
    """
    return from_bytes(read_file(path), str(path), memory)


def from_bytes(data: bytes, where: str = "model", memory: int | str = MEMORY) -> Model:
    """Return the model that `to_bytes` wrote, with all of it checked, to the last byte."""
    allowed = parse_size(memory, "memory")
    try:
        contents, header = decode(data, where, allowed)
        model = Model(*contents)
        if (model.digest, model.diagram_digest) != (header["digest"], header["diagram_digest"]):
            raise BddTorqueError(f"{where} was altered: its contents do not match their digest")
        if to_bytes(model, header["package"]) != data:
            raise BddTorqueError(f"{where} was altered or rewritten: it differs from what bddtorque writes")
    except RecursionError:
        raise BddTorqueError(one_line(f"{where}: the header has too many levels")) from None
    except BddTorqueError as problem:  # a robot knows nothing of files, and names in a file may hold anything
        said = str(problem)
        raise BddTorqueError(one_line(said if said.startswith(where) else f"{where}: {said}")) from None
    return model
