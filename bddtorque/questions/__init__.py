"""Exact questions about a compiled model: extremes, counts, errors, equality, symmetry.

    from bddtorque.questions import largest
    largest(model, "tau1").value

The road: `subjects` says what is asked about, as a plan of one output, and `conditions` of which states; `enumeration`
runs all of them, `separation` and `convolving` count where a sum falls apart, `box_ranges`, `bounding` and `sharpening`
prove brackets everywhere else; `values`, `word_errors`, `equal_words` and `symmetry` choose among them and answer.
"""

from __future__ import annotations

from bddtorque.questions.answers import Answer, Count, Equality, Extreme, LargestError, Support, Verdict
from bddtorque.questions.asking import ask
from bddtorque.questions.equal_words import equality
from bddtorque.questions.search_work import WORK, Work
from bddtorque.questions.subjects import Subject, subject, subjects
from bddtorque.questions.symmetry import support, symmetries
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
