"""`ask`: several questions to a compiled model in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, get_args

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.model.model import Model
from bddtorque.questions.answers import Answer
from bddtorque.questions.conditions import Conditions, words_within
from bddtorque.questions.equal_words import equality
from bddtorque.questions.search_work import WORK, Work, work_of
from bddtorque.questions.subjects import subjects
from bddtorque.questions.symmetry import support, symmetries
from bddtorque.questions.values import largest, reaching, saturating, smallest
from bddtorque.questions.word_errors import largest_error

Question = Literal["largest", "smallest", "saturation", "error", "symmetry", "support"]
QUESTIONS = get_args(Question)
DEFAULT_QUESTIONS: tuple[Question, ...] = ("largest", "smallest", "saturation")
"""Questions of a call that names none."""

WorkScope = Callable[[str, int, int], AbstractContextManager[Work]]
"""Gives the work of one answer, by what it is (``"largest of tau1"``), its number, and how many there are."""


def ask(
    model: Model,
    *questions: Question,
    of: str | Sequence[str] = (),
    at_least: float | None = None,
    at_most: float | None = None,
    equal: Model | None = None,
    where: Conditions = (),
    within_limits: bool = False,
    work: float = WORK,
    limit: float | None = None,
) -> list[Answer]:
    """Answer questions about every state of a compiled model: extremes, counts, errors, symmetry, equality.

    Parameters
    ----------
    model
        A compiled model.
    *questions
        ``"largest"``, ``"smallest"``, ``"saturation"``, ``"error"``, ``"symmetry"``, ``"support"``; the first three
        by default.
    of
        Names to ask about: an output (``"tau1"``), a joint, a term (``"J12"``), a word (``"w15"``) or a block
        (``"b3"``); all outputs by default.
    at_least
        Count the states that give at least this value, in the unit of the output.
    at_most
        Count the states that give at most this value, in the unit of the output.
    equal
        Another model: ask whether it gives the same words.
    where
        Conditions on the inputs, by word or joint: ``"qd=0, 0 <= q[elbow] <= 90 deg"`` or
        ``{"qd": 0, "q2": (0, 1.5)}``.
    within_limits
        Restrict positions of joints that turn to the limits of their joints.
    work
        Most steps that each answer may take, in millions; a million takes about ten milliseconds.
    limit
        Most seconds that each answer may take. An answer stopped by this limit depends on the machine.

    Returns
    -------
    list of Answer
        Each labelled ``"exact"`` or ``"bracket"``. After Ctrl-C: the answers found so far.

    Raises
    ------
    BddTorqueError
        A question, name or condition is wrong.

    Examples
    --------
    >>> import bddtorque as bt
    >>> [top] = bt.ask(bt.compile("planar2r", bits=4), "largest", of="tau1")
    >>> top.label, top.unit
    ('exact', 'N·m')
    """

    @contextmanager
    def scope(what: str, place: int, count: int) -> Iterator[Work]:
        yield work_of(work, limit)

    counted = {"at least": at_least, "at most": at_most}
    wanted: dict[str, Any] = {**dict.fromkeys(questions), **{k: v for k, v in counted.items() if v is not None}}
    names = [of] if isinstance(of, str) else list(of)
    return answers(model, names, wanted, equal, scope, where, within_limits)[0]


def answers(
    model: Model,
    of: Sequence[str],
    wanted: dict[str, Any],
    equal: Model | None,
    scope: WorkScope,
    where: Conditions = (),
    within_limits: bool = False,
) -> tuple[list[Answer], bool]:
    """Return all answers, or those found before somebody interrupted, and whether somebody did; see `ask`.

    `wanted` are questions by name, ``"at least"`` and ``"at most"`` with their values.
    """
    held: dict[str, Any] = {"where": where, "within_limits": within_limits}
    ways: dict[str, Callable[[str, Work], Any]] = {
        "largest": lambda name, work: largest(model, name, work=work, **held),
        "smallest": lambda name, work: smallest(model, name, work=work, **held),
        "saturation": lambda name, work: saturating(model, name, work=work, **held),
        "at least": lambda name, work: reaching(model, name, wanted["at least"], "at least", work=work, **held),
        "at most": lambda name, work: reaching(model, name, wanted["at most"], "at most", work=work, **held),
        "error": lambda name, work: largest_error(model, name, work=work, **held),
        "symmetry": lambda name, work: symmetries(model, name),
        "support": lambda name, work: support(model, name),
    }
    for question in wanted:
        if question not in ways:
            raise BddTorqueError(not_among("ask: a question", question, QUESTIONS))
    asked_of_all = [*(each for each in wanted if each in ("symmetry", "support")), *(["equal"] if equal else [])]
    if asked_of_all and (where or within_limits):
        raise BddTorqueError(
            f"ask: conditions on inputs cannot be used with {asked_of_all[0]}, which is about all states"
        )
    if not wanted and equal is None:
        wanted = dict.fromkeys(DEFAULT_QUESTIONS)
    names = [subject.name for subject in subjects(model, of)]
    words_within(model, where, within_limits)  # what is wrong is said before any work
    answered: list[Answer] = []
    place, count = 0, len(names) * len(wanted) + (equal is not None)
    try:
        for name in names if wanted else ():
            for what in wanted:
                place += 1
                with scope(f"{what} of {name}", place, count) as work:
                    answer = ways[what](name, work)
                answered += answer if isinstance(answer, list) else [answer]
                if answered[-1].interrupted:
                    return answered, True
        if equal is not None:
            with scope("comparing", count, count) as work:
                compared = equality(model, equal, work=work)
            answered += [answer for answer in compared if not of or answer.of in names]
    except KeyboardInterrupt:
        return answered, True
    return answered, any(answer.interrupted for answer in answered)
