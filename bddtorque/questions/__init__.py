"""Exact questions about a compiled model: extremes, counts, errors, equality, symmetry.

    from bddtorque.questions import largest
    largest(model, "tau1").value

The road: `subjects` says what is asked about, as a plan of one output; `enumeration` runs all its states,
`block_diagrams` reads a block's diagram, `separation` and `convolving` count where a sum falls apart, `ranges` and
`bounding` prove brackets everywhere else; `values`, `errors`, `equality` and `symmetry` choose among them and answer.
"""

from __future__ import annotations

from bddtorque.questions.answers import Answer, Count, Equality, Extreme, LargestError, Support, Verdict
from bddtorque.questions.equality import equality
from bddtorque.questions.largest_error import largest_error
from bddtorque.questions.subjects import Subject, subject, subjects
from bddtorque.questions.symmetry import support, symmetries
from bddtorque.questions.values import largest, reaching, saturating, smallest

__all__ = [
    "Answer",
    "Count",
    "Equality",
    "Extreme",
    "LargestError",
    "Subject",
    "Support",
    "Verdict",
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
