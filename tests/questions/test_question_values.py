"""Extremes and counts are those of all states, whichever way they are found."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from compiled import random_words
from every_state import MODELS, all_words, arm, every_state, every_word, outputs_at, small
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.questions import Work, bounding, largest, largest_error, reaching, saturating, smallest, subject, values
from bddtorque.questions import counting as ways
from bddtorque.questions.bounding import largest_sum
from bddtorque.questions.separation import separated


def plenty():
    return Work(1e6)


RANGES = {"velocity": 1.0, "acceleration": 1.0, "torque": [[-200.0, 200.0], [-100.0, 100.0]]}
PLACES = [(name, place) for name in MODELS for place in (0, 1)]


@cache
def asked_of(name, place):
    return subject(small(name), f"tau{place + 1}")


@cache
def parted_of(name, place):
    return separated(asked_of(name, place), plenty())


@cache
def sums_of(name, place):
    asked = asked_of(name, place)
    read = {wire.name for wire in asked.inputs}
    return asked.total({key: words for key, words in every_state(name).items() if key in read})


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_extremes_are_those_of_all_states(name, place):
    model, words = small(name), every_word(name)[place]
    for ask, expected in ((largest, words.max()), (smallest, words.min())):
        found = ask(model, f"tau{place + 1}")
        assert found.exact and found.word == found.bound_word == expected
        assert found.value == model.formats.tau[place].dequantise(int(expected))


@pytest.mark.parametrize("start", ["a good state", "any state"])
@pytest.mark.parametrize(("name", "place"), PLACES)
def test_branch_and_bound_closes_on_the_extremes(name, place, start, monkeypatch):
    if start == "any state":  # the boxes must find the extremes by themselves
        monkeypatch.setattr(bounding, "good_state", lambda asked, *_: bounding.WordBoxes(asked, Work()).whole[0][0])
    asked = subject(small(name), f"tau{place + 1}")
    words = every_word(name)[place]
    for direction, expected in ((1, words.max()), (-1, words.min())):
        work = plenty()
        found = largest_sum(asked, direction, work)
        assert not work.stopped
        assert asked.rounded(direction * found.found) == asked.rounded(direction * found.bound) == expected
        assert direction * asked.total({k: np.array([v]) for k, v in found.state.items()})[0] == found.found


@pytest.mark.parametrize("millions", [0.0, 0.5, 2.0, 5.0])
def test_little_work_still_brackets(millions):
    for name, place in PLACES:
        asked, total, work = asked_of(name, place), sums_of(name, place), Work(millions)
        found = largest_sum(asked, 1, work)
        assert work.stopped in ("work", "") and found.found <= total.max() <= found.bound
        assert work.stopped or asked.rounded(found.found) == asked.rounded(found.bound)


def test_an_interruption_leaves_a_bracket(monkeypatch):
    asked = asked_of("direct", 0)
    calls = []

    def interrupted(self, low, high):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return whole(self, low, high)

    whole = bounding.BoxRanges.over
    monkeypatch.setattr(bounding, "good_state", lambda asked, *_: bounding.WordBoxes(asked, Work()).whole[0][0])
    monkeypatch.setattr(bounding.BoxRanges, "over", interrupted)
    work = plenty()
    found = largest_sum(asked, 1, work)
    assert work.stopped == "interrupt"
    assert found.found < sums_of("direct", 0).max() <= found.bound


@pytest.mark.parametrize(("name", "place"), PLACES)
@settings(max_examples=examples(12))
@given(data=st.data())
def test_every_way_counts_what_is_there(name, place, data):
    asked, total = asked_of(name, place), sums_of(name, place)
    threshold = data.draw(st.integers(int(total.min()) - 2, int(total.max()) + 2))
    expected = int(np.count_nonzero(total >= threshold))
    free = asked.unread
    assert ways._enumerated(asked, threshold, plenty()).low * free == expected
    boxes = ways._in_boxes(asked, threshold, Work(data.draw(st.floats(0, 30))))
    assert boxes.low * free <= expected <= boxes.high * free
    parted = parted_of(name, place)
    assert parted is not None
    exact = ways._by_groups(parted, threshold, plenty())
    assert exact.low * parted.subject.unread == exact.high * parted.subject.unread == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "steps_of", lambda _: math.inf)
        patch.setattr(ways, "MAX_BINS", data.draw(st.sampled_from([1, 8, 64, 1 << 15])))
        binned = ways._by_groups(parted, threshold, plenty())
    assert binned.low * parted.subject.unread <= expected <= binned.high * parted.subject.unread


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_all_states_are_counted_once(name, place):
    parted, total = parted_of(name, place), sums_of(name, place)
    groups = math.prod(int(group.counts.sum()) for group in parted.groups)
    assert groups * len(parted.fixed) * parted.subject.unread == len(total)
    low, high = parted.bounds()
    assert low.min() <= total.min() and total.max() <= high.max()


@pytest.mark.parametrize("name", MODELS)
def test_saturation_is_counted(name):
    model = small(name)
    for place, output in enumerate(model.plan.outputs):
        found = saturating(model, output.name)
        assert found.exact and found.states == len(every_word(name)[0])
        uncut = sums_of(name, place) + ((1 << output.shift) >> 1) >> output.shift
        assert found.low == np.count_nonzero((uncut < output.low) | (uncut > output.high))
        assert model.certificate.torques[place].saturation in found.certificate


@given(st.sampled_from(PLACES), st.floats(-250, 250), st.sampled_from(["at least", "at most"]))
def test_values_are_reached_as_often_as_there_are_states(which, value, side):
    name, place = which
    model = small(name)
    torques = model.formats.tau[place].dequantise(every_word(name)[place])
    found = reaching(model, f"tau{place + 1}", value, side)
    assert found.exact
    assert found.low == np.count_nonzero(torques >= value if side == "at least" else torques <= value)


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_a_value_that_a_word_stands_for_is_reached_by_it(name, place):
    model, words = small(name), every_word(name)[place]
    for word in (int(words.min()), 0, int(words.max())):
        value = float(model.formats.tau[place].dequantise(word))
        assert reaching(model, f"tau{place + 1}", value).low == np.count_nonzero(words >= word)
        assert reaching(model, f"tau{place + 1}", value, "at most").low == np.count_nonzero(words <= word)


def test_a_function_of_nothing_is_answered_too():
    model = bt.compile_function(lambda x: 0 * x + 1.5, inputs={"x": (4, 1.0)}, output=(5, 2.0), name="still")
    name = model.plan.outputs[0].name
    assert largest(model, name).value == smallest(model, name).value == pytest.approx(1.5, abs=0.07)
    assert saturating(model, name).low == 0 and reaching(model, name, 1.0).low == 16


@pytest.mark.parametrize("multiple", [1, 2, 3])
def test_only_odd_multiples_of_an_angle_are_free(multiple):
    model = bt.compile_function(
        lambda a, b, u: np.cos(multiple * a - 2 * b) * u + 0.25 * u,
        inputs={"a": (4, "angle"), "b": (4, "angle"), "u": (4, 1.0)},
        output=(6, 2.0),
        block_bits=4,
    )
    asked = subject(model, model.plan.outputs[0].name)
    parted = separated(asked, plenty())
    assert (parted.subject.bits < asked.bits) == (multiple % 2 == 1)
    words = np.meshgrid(*[np.arange(-8, 8)] * 3, indexing="ij")
    total = asked.total(dict(zip(("a", "b", "u"), words, strict=True)))
    for threshold in np.unique(total).tolist():
        found = ways._by_groups(parted, threshold, plenty())
        assert found.low * parted.subject.unread == np.count_nonzero(total >= threshold)


def test_a_joint_that_turns_the_other_way_has_its_extremes_too(tmp_path):
    spec = bt.load_spec("planar2r").with_options(bits=3)
    joints = tuple(replace(joint, sign=-1) for joint in spec.joints)
    model = bt.compile(replace(spec, joints=joints), cache=None, workers=1)
    values_of = model.formats.tau.dequantise(outputs_at(model, all_words(model)))
    for place, name in enumerate(("tau1", "tau2")):
        assert largest(model, name).value == values_of[:, place].max()
        assert smallest(model, name).value == values_of[:, place].min()
        assert reaching(model, name, 30.0).low == np.count_nonzero(values_of[:, place] >= 30.0)


def test_a_state_on_either_side_is_known_where_boxes_leave_it_open():
    asked = asked_of("direct", 0)

    def no_box(threshold):
        return ways._with_states(asked, threshold, ways._in_boxes(asked, threshold, Work(0)), plenty())

    top = no_box(asked.least_total(2))
    assert 1 == top.low < top.high and top.way == "branch and bound"
    bottom = no_box(asked.least_total(-1))
    assert bottom.low < bottom.high == (1 << asked.bits) - 1


def test_a_second_look_forgets_nothing_of_the_first(monkeypatch):
    asked = subject(arm(6), "tau1")
    first = ways._in_boxes(asked, asked.least_total(20), Work().part(ways.FIRST_LOOK))
    looks = iter([first, ways.Counts(0, 1 << asked.bits, "branch and bound", "the second")])
    monkeypatch.setattr(ways, "separated", lambda *_: None)
    monkeypatch.setattr(ways, "_in_boxes", lambda *_: next(looks))
    found = ways.states_at_least(asked, asked.least_total(20), Work())
    assert 0 < first.low < first.high < 1 << asked.bits and found.detail == "the second"
    assert (found.low, found.high) == (first.low * asked.unread, first.high * asked.unread)


def test_the_same_question_has_the_same_answer():
    model = arm(6)
    for millions in (1, 10):
        for ask in (largest, saturating, lambda *given, work: reaching(*given, 50.0, work=work)):
            first, second = (ask(model, "tau1", work=millions) for _ in range(2))
            assert first == second


def test_more_work_tells_more():
    asked = subject(arm(6), "tau1")
    found = [ways._in_boxes(asked, asked.least_total(20), Work(millions)) for millions in (1, 10, 30)]
    widths = [each.high - each.low for each in found]
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[2] > 0


def test_four_bits_by_groups_and_by_all_states():
    model = arm(4)
    for name in ("tau1", "tau2"):
        asked = subject(model, name)
        parted = separated(asked, plenty())
        for threshold in (asked.least_total(2), asked.least_total(5), asked.least_total(-3)):
            by_groups = ways._by_groups(parted, threshold, plenty())
            by_states = ways._enumerated(asked, threshold, plenty())
            more = parted.subject.unread // asked.unread
            assert by_groups.low * more == by_groups.high * more == by_states.low


def test_twelve_bits_fall_apart_as_the_plan_says():
    model = arm(12)
    parted = separated(subject(model, "tau2"), Work())
    assert parted.names == ("q2",)
    assert parted.subject.unread == 1 << 12  # qd2; q1 and q2 enter as their sum, which is free
    assert sum(int(group.counts.sum()).bit_length() - 1 for group in parted.groups) == 48
    lowest = -(1 << 60)
    everything = ways.states_at_least(subject(model, "tau1"), lowest, Work())
    assert everything.low == everything.high == 1 << 72


def test_twelve_bits_are_exact():
    model = arm(12)
    top = largest(model, "tau1")
    assert top.exact and top.value == pytest.approx(152.54, abs=0.05)  # what the robot's file says it can need
    count = reaching(model, "tau2", 69.0)
    assert count.exact and count.way == "conditioning"
    # as many as random states near the top say, and more than the one state
    assert 1 <= count.low < 1e-6 * count.states
    assert reaching(model, "tau2", top.value).low == 0


def test_counts_agree_with_random_states():
    model, states = arm(6), 100_000
    words = model.torque_words(*random_words(model, states))
    found = reaching(model, "tau2", 50.0)
    share = np.count_nonzero(model.formats.tau.dequantise(words)[:, 1] >= 50.0) / states
    assert found.exact and found.way == "conditioning"
    assert abs(found.share[0] - share) < 5 * math.sqrt(share / states)


def test_certificates_are_held_to_their_word():
    model = small("narrow")
    assert "says can" in saturating(model, "tau1").certificate
    wrong = replace(model.certificate.torques[0], saturation="cannot", witness=None)
    liar = replace(model, certificate=bt.Certificate((wrong, model.certificate.torques[1])))
    assert "says that it cannot saturate, but" in saturating(liar, "tau1").refutes
    assert not saturating(model, "tau1").refutes
    unsure = replace(wrong, saturation="not excluded")
    careful = replace(model, certificate=bt.Certificate((unsure, model.certificate.torques[1])))
    assert saturating(careful, "tau1").certificate.endswith("proves that it can")
    direct = small("direct")
    unsure = replace(direct.certificate.torques[0], saturation="not excluded")
    careful = replace(direct, certificate=bt.Certificate((unsure, direct.certificate.torques[1])))
    assert saturating(careful, "tau1").certificate.endswith("proves that it cannot")


def test_a_wrong_witness_is_noticed():
    model = small("direct")
    state = dict.fromkeys(every_state("direct"), 0)
    asked = subject(model, "tau1")
    right = values.run_state(model, state)[0]
    values.check_witness(model, asked, state, right)
    with pytest.raises(bt.BddTorqueError, match="bug"):
        values.check_witness(model, asked, state, right + 1)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("tau3", "unknown name 'tau3'; did you mean 'tau"),
        ("w999", "the words of this model are w0 to w"),
        ("b99", "the blocks of this model are b0 to b"),
        ("", "unknown name ''.*names are tau1, tau2, shoulder, elbow, J11"),
    ],
)
def test_what_is_not_there_is_refused(of, said):
    with pytest.raises(bt.BddTorqueError, match=said):
        largest(small("direct"), of)


def test_names_of_the_model_come_before_those_of_joints():
    robot = bt.load_robot("planar2r")
    joints = tuple(replace(joint, name=name) for joint, name in zip(robot.joints, ("tau2", "J11"), strict=True))
    named = bt.compile(replace(robot, joints=joints), bits=3, cache=None, workers=1, **RANGES)
    assert subject(named, "tau2").place == 1 and subject(named, "tau1").title == "torque of tau2"
    assert subject(named, "J11").kind == "term"
    assert subject(small("direct"), "shoulder").name == "tau1"


def test_counts_need_an_output_and_a_number():
    with pytest.raises(bt.BddTorqueError, match="a question about an output; b0 is a block"):
        saturating(small("direct"), "b0")
    with pytest.raises(bt.BddTorqueError, match="finite"):
        reaching(small("direct"), "tau1", float("nan"))
    with pytest.raises(bt.BddTorqueError, match="side must be 'at least' or 'at most', got 'atleast'"):
        reaching(small("direct"), "tau1", 1.0, "atleast")


@pytest.mark.parametrize("work", [0, -1, float("inf"), float("nan"), "much"])
def test_work_is_a_number_of_steps(work):
    with pytest.raises(bt.BddTorqueError, match=r"^work must be .*, got "):
        largest_error(small("direct"), "tau1", work=work)
