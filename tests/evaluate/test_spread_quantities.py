"""Every quantity and compiled functions on counted processors: the words of the plan, spread by terms and by bits.

Threads and one-bit processors are tried by `tests/test_every_model.py` and `tests/export/test_every_export.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from carried_out import run_schedule
from small_models import EVERY, Maker

from bddtorque.evaluate.spreading import SpreadWay, schedule_model, tasks_of
from bddtorque.plan.reference import run_plan

WAYS: tuple[SpreadWay, ...] = ("terms", "bits")
TABLES = [case for case in EVERY if "tables" in str(case.id) and "tree" not in str(case.id)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", TABLES)
def test_schedules_carried_out_give_the_words_of_the_plan(make: Maker, way: SpreadWay) -> None:
    model = make()
    rng, words = np.random.default_rng(3), model.formats.words
    named = {name: rng.integers(word.lowest, word.highest, 100, endpoint=True) for name, word in words.items()}
    expected = np.stack([np.broadcast_to(column, 100) for column in run_plan(model.plan, model.tables, named)], axis=1)
    for processors in (1, 3, 50):
        for grain in ("operation", "wire"):
            spreading = schedule_model(model, processors, way, grain=grain)
            spreading.schedule.check(tasks_of(spreading.operations))
            run = run_schedule(spreading.operations, spreading.schedule, model.diagrams, named)
            np.testing.assert_array_equal(run.torques, expected)
            assert run.messages == spreading.messages
