"""Exact questions about a compiled model: extremes, counts, errors, equality, symmetry.

    from bddtorque.questions import largest
    largest(model, "tau1").value

The road: `subjects` says what is asked about, as a plan of one output (`subject_kinds`); `enumeration` runs all its
states, `separation` and `convolving` count where a sum falls apart, `wire_ranges`, `float_ranges` and `bounding` prove
brackets everywhere else; `values`, `word_errors`, `equal_words`, `symmetry` and `input_support` choose among them and
answer.
"""

from __future__ import annotations

from bddtorque.questions.answers import Answer, Count, Equality, Extreme, LargestError, Support, Verdict
from bddtorque.questions.asking import ask
from bddtorque.questions.equal_words import equality
from bddtorque.questions.input_support import support
from bddtorque.questions.search_work import WORK, Work
from bddtorque.questions.subject_kinds import Subject
from bddtorque.questions.subjects import subject, subjects
from bddtorque.questions.symmetry import symmetries
from bddtorque.questions.values import largest, reaching, saturating, smallest
from bddtorque.questions.word_errors import largest_error

__all__ = [
    "WORK",
    "Answer",
    "Count",
    "Equality",
    "Extreme",
    "LargestError",
    "Subject",
    "Support",
    "Verdict",
    "Work",
    "ask",
    "equality",
    "largest",
    "largest_error",
    "reaching",
    "saturating",
    "smallest",
    "subject",
    "subjects",
    "support",
    "symmetries",
]
