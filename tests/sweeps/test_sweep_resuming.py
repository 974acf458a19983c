"""A sweep that is interrupted goes on where it stopped, and finds the same as one that was not."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import compiled, rubbing_arm

import bddtorque as bt
from bddtorque.base.caching import Cache
from bddtorque.base.workers import NoProgress
from bddtorque.sweeps import running, sweep
from bddtorque.sweeps.figures import float_error
from bddtorque.sweeps.measuring import subject_of

STATES = 4_000


class Stops(NoProgress):
    """Progress that is interrupted after so many parts."""

    def __init__(self, after):
        self.after = after
        self.cached = 0

    def advance(self, name, cost, cached):
        self.cached += cached
        self.after -= 1
        if not self.after:
            raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def long_sweeps(monkeypatch):
    """Sweeps of a few thousand states are long ones, in batches of 500."""
    monkeypatch.setattr("bddtorque.sweeps.states.BATCH", 500)
    monkeypatch.setattr("bddtorque.sweeps.running.ALONE", 1_000)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("after", [3, 10])
def test_interrupted_and_continued_gives_the_same(model, tmp_path, workers, after):
    """Nine parts and two climbs: interrupted among the parts, or between the climbs."""
    cache = Cache(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        sweep(model, STATES, workers=workers, cache=cache, progress=Stops(after))
    watched = Stops(0)
    continued = sweep(model, STATES, workers=workers, cache=cache, progress=watched)
    assert watched.cached >= after
    assert continued == sweep(model, STATES, workers=1)


def test_what_is_kept_is_of_this_model_and_these_states(model, tmp_path):
    cache = Cache(tmp_path)
    sweep(model, STATES, cache=cache)
    for other in ({"seed": 1}, {"evaluator": "bits"}, {"trajectory": "sine"}):
        watched = Stops(0)
        sweep(model, STATES, cache=cache, progress=watched, **{"searched": 0, **other})
        assert not watched.cached, other
    watched = Stops(0)
    sweep(bt.compile("planar2r", bits=5, workers=1, cache=None), STATES, cache=cache, progress=watched)
    assert not watched.cached


def test_a_short_sweep_keeps_nothing(model, tmp_path):
    sweep(model, 500, cache=Cache(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_long_sweeps_run_code_made_for_the_plan_and_find_the_same(model, monkeypatch):
    tables = sweep(model, 3_000)
    monkeypatch.setattr("bddtorque.sweeps.running.STRAIGHT", 3_000)
    for fast, plain in zip(sweep(model, 3_000).outputs, tables.outputs, strict=True):
        assert fast.found == pytest.approx(plain.found, abs=float_error(plain.bits))
        for error in ("tables", "inputs", "total"):
            assert getattr(fast, error).rms == pytest.approx(getattr(plain, error).rms, rel=1e-9)
            assert getattr(fast, error).percentiles == pytest.approx(getattr(plain, error).percentiles, rel=1e-9)


def wrong_words(subject):
    return replace(subject, run=lambda *words: subject.run(*words) + (words[0] == 7))


def wrong_truth(subject):
    return replace(subject, traced=lambda units: subject.traced(units) * 1.001)


@pytest.mark.parametrize(
    ("broken", "is_code", "message"),
    [
        (wrong_words, lambda form, traced: form != "dense", r"code and tables give other words for \d+ of 500 states"),
        (wrong_truth, lambda form, traced: traced, "true values of code and of the quantity differ by"),
    ],
)
def test_code_that_differs_from_what_it_stands_for_is_refused(model, monkeypatch, broken, is_code, message):
    """Straight-line code from the tables, and code of true torques from the recursion."""
    honest = running.subject_from

    def subject_from(data, evaluator, form, traced):
        subject = honest(data, evaluator, "dense", traced and broken is wrong_truth)
        return broken(subject) if is_code(form, traced) else subject

    monkeypatch.setattr(running, "STRAIGHT", 3_000)
    monkeypatch.setattr(running, "subject_from", subject_from)
    with pytest.raises(bt.BddTorqueError, match=message):
        sweep(model, 3_000)


def mounted_askew() -> bt.Model:
    text = 'robot = "planar2r"\nbits = 8\ntarget = "float"\n[ranges]\nvelocity = 1.5\nacceleration = [-2.0, 1.0]\n'
    return bt.compile(bt.spec.from_toml(f'{text}[[joint]]\nname = "elbow"\nsign = -1\noffset = 0.7\n'), workers=1)


@pytest.mark.parametrize(
    "made",
    [
        mounted_askew,
        rubbing_arm,
        pytest.param(lambda: compiled("stanford", bits=8, target="float"), marks=pytest.mark.everything),
    ],
)
def test_the_code_of_true_torques_gives_those_of_the_recursion(made):
    """At words and between them; encoders mounted anyhow, friction, sliding joints."""
    subject = subject_of(made(), traced=True)
    words = [word for kind in subject.formats.inputs for word in kind]
    rng = np.random.default_rng(3)
    units = np.stack([rng.uniform(word.lowest - 0.5, word.highest + 0.5, 1000) for word in words])
    units[:, :500] = np.rint(units[:, :500])
    apart = np.abs(subject.truth_of_units(units) - replace(subject, traced=None).truth_of_units(units)).max(axis=1)
    for bits, error, difference in zip(subject.formats.tau.bits, subject.traced.error, apart, strict=True):
        assert error < float_error(bits)
        assert difference < 0.1 * float_error(bits)


def test_threads_do_not_matter(model):
    assert sweep(model, STATES, workers=3, searched=6_000) == sweep(model, STATES, workers=1, searched=6_000)


def test_counts_of_workers_are_checked(model):
    with pytest.raises(bt.BddTorqueError, match="workers"):
        sweep(model, STATES, workers=0)
    assert np.isfinite(sweep(model, 10, workers=1).outputs[0].found)
