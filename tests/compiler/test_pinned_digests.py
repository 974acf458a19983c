"""Every built-in arm compiles to the committed digest, on whatever machine and versions this runs."""

from __future__ import annotations

import pytest
from pinned import FILE, RENEW, difference, kept, made, names, pin

LARGE = ("planar3r", "stanford", "puma560", "ur5", "panda")


LONGEST = ("panda tables", "stanford tables", "puma560 tables")
"""In `make test-all`; test_same_digest.py makes puma560 in `make test`."""
MARKS = {name: [pytest.mark.everything] for name in LONGEST}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=MARKS.get(name, [pytest.mark.slow] if name.startswith(LARGE) else []))
        for name in names()
    ],
)
def test_the_digest_is_the_committed_one(name: str) -> None:
    assert difference(name, pin(made(name)), kept()) == ""


def test_every_arm_is_pinned_and_nothing_else() -> None:
    assert sorted(kept()) == sorted(names())


def test_a_change_says_where_it_is_and_what_to_do() -> None:
    pins = kept()
    name = names()[0]
    changed = {**pins[name], "plan": "0" * 16, "digest": "0" * 64}
    assert difference(name, changed, pins) == f"{name}: digest, plan differ from {FILE.name}; {RENEW}"
    assert difference("another tables", changed, pins).startswith("another tables: a pinned digest required")
