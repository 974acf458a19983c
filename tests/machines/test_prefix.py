"""The prefix network of LAT Fig. 5: right, and of the size the paper says (F11)."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from machines.lathrop.logarithmic import prefixes, serial, suffixes
from machines.lathrop.prefix import intervals, sklansky


@given(st.text(min_size=1, max_size=70))
def test_prefixes_and_suffixes_of_text(text: str) -> None:
    leaves = list(text)
    for tiers in (None, serial(len(text))):
        assert prefixes(leaves, str.__add__, tiers) == [text[: i + 1] for i in range(len(text))]
        assert suffixes(leaves, str.__add__, tiers) == [text[i:] for i in range(len(text))]


@given(st.integers(1, 200))
def test_as_few_tiers_as_can_be_and_every_interval_from_the_first_leaf(leaves: int) -> None:
    tiers = sklansky(leaves)
    assert len(tiers) == math.ceil(math.log2(leaves))
    assert intervals(leaves, tiers)[-1] == [(0, i) for i in range(leaves)]
    for tier in tiers:  # the nodes of a tier do not wait for one another
        assert not {node.left for node in tier} & {node.right for node in tier}


def test_sizes_of_the_paper() -> None:
    """F11."""
    assert [len(tier) for tier in sklansky(6)] == [3, 2, 2]  # seven nodes, three tiers
    assert sum(map(len, sklansky(8))) == 12
    assert [sum(map(len, sklansky(n + 1))) for n in range(1, 10)] == [1, 2, 4, 5, 7, 9, 12, 13, 15]
