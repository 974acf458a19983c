"""One state on several processors: the words and counts of every evaluator, whatever schedule and threads do."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from compiled import arm, compiled, random_words, reference

import bddtorque as bt
from bddtorque.evaluate import runners as kinds_module
from bddtorque.evaluate import runners as team_module
from bddtorque.evaluate.runners import SharedStateRunner
from bddtorque.evaluate.spreading import schedule_model
from bddtorque.evaluate.threads import ASLEEP, END_WAIT, FAR, FIRST_WAIT, POST

PLANS = {
    "terms": {"bits": 6},
    "recursive": {"bits": 6, "source": "recursive"},
    "partial": {"bits": 6, "block_bits": 6},
    "paper": {"bits": 5, "accuracy": "paper"},
}


@pytest.fixture
def eight_cores(monkeypatch):
    """Let the evaluator believe in eight cores, so that every processor has a thread wherever the tests run."""
    monkeypatch.setattr(kinds_module, "usable_processors", lambda: 8)


def run(team, words):
    given = [each.copy() for each in words]
    for each in given:
        each.flags.writeable = False  # as evaluators give them: compiled code is made for that
    tau, counts = np.empty_like(words[0]), np.zeros(3 * words[0].shape[1], dtype=np.int64)
    team.run(given, tau, counts)
    return tau


@pytest.mark.parametrize("form", [None, "bits", "dense"])
@pytest.mark.parametrize("spread", ["terms", "bits"])
def test_the_words_and_counts_of_every_evaluator(form, spread, eight_cores):
    model = arm(6, workers=1)
    words = [2 * each for each in random_words(model, 40)]  # half of them out of range
    alone = model.evaluator()
    expected = alone.torque_words(*words)
    values = np.random.default_rng(0).uniform(-1.1, 1.1, (3, 2))
    for processors in (1, 2, 3, 5):
        many = model.evaluator("parallel", form, processors=processors, spread=spread)
        assert (many.form, many.processors, many.spread) == (form or "lockstep", processors, spread)
        assert np.array_equal(many.torque_words(*words), expected)
        assert np.array_equal(many.out_of_range, alone.out_of_range)
        for state in range(len(expected)):
            assert np.array_equal(many.torque_words(*(each[state] for each in words)), expected[state])
        assert np.array_equal(many.out_of_range, 2 * alone.out_of_range)
        assert np.array_equal(many.torque(*values), model.torque(*values))


@pytest.mark.parametrize(
    ("plan", "grain"),
    [
        *((plan, "operation") for plan in PLANS),
        ("terms", "wire"),
        *(pytest.param(plan, "wire", marks=pytest.mark.everything) for plan in PLANS if plan != "terms"),
    ],
)
def test_any_schedule_is_run_even_where_one_thread_goes_as_far_as_it_can_in_every_list(plan, grain):
    """A meeting that is missing would have values of the state before read: states differ in all words."""
    model = arm(workers=1, **PLANS[plan])
    words = random_words(model, 30, seed=4)
    expected = reference(model, words)
    for way in ("bits", "terms"):
        for processors, form in ((1, "lockstep"), (2, "bits"), (3, "lockstep"), (5, "bits")):
            team = SharedStateRunner(model, form, schedule_model(model, processors, way, grain=grain), 1)
            assert np.array_equal(run(team, words), expected), (way, processors)
            assert processors > 1 or not len(team.lists.waits)


def test_processors_do_what_the_schedule_says_and_meet_nowhere_else():
    model = arm(6, workers=1)
    spreading = schedule_model(model, 3, "bits")
    code = SharedStateRunner(model, "bits", spreading, 1).lists
    place = {each.task: each.processor for each in spreading.schedule.placements}
    pairs = {
        (place[each.name], place[name])
        for each in spreading.operations
        for name in each.predecessors
        if place[name] != place[each.name]
    }
    found = set()
    for processor in range(3):
        rows = code.sections[code.starts[processor] : code.starts[processor + 1]]
        for section in rows.tolist():
            waits = code.waits[section[FIRST_WAIT] : section[END_WAIT]].tolist()
            found |= {(processor, sender) for sender, _ in waits}
        posted = rows[rows[:, POST] > 0, POST]
        waited = {far for sender, far in code.waits.tolist() if sender == processor}
        assert (np.diff(posted) > 0).all() and set(posted.tolist()) == waited
    assert found <= pairs and len({receiver for receiver, _ in found}) == 3


def test_a_meeting_left_out_is_noticed_by_these_tests():
    model = arm(6, workers=1)
    words = random_words(model, 30, seed=4)
    team = SharedStateRunner(model, "bits", schedule_model(model, 3, "bits"), 1)
    team.lists.waits[:, FAR] = 0
    assert not np.array_equal(run(team, words), reference(model, words))


@pytest.mark.parametrize("name", ["planar3r_a", "scara"])
def test_other_arms(name, eight_cores):
    same_words(name, 4)


@pytest.mark.everything
@pytest.mark.parametrize("name", ["planar3r_b", "stanford", "puma560", "ur5", "panda"])
def test_every_arm(name, eight_cores):
    same_words(name, 4)


def same_words(name, bits):
    model = compiled(name, bits=bits)
    words = random_words(model, 20)
    expected = reference(model, words)
    for spread, form in (("terms", "bits"), ("bits", "bits"), ("bits", "lockstep")):
        for processors in (2, 5):
            many = model.evaluator("parallel", form, processors=processors, spread=spread)
            assert np.array_equal(many.torque_words(*words), expected)


@pytest.mark.everything
def test_functions(eight_cores):
    model = bt.compile_function(lambda x, y: x * y, inputs={"x": (4, 1.0), "y": (4, 1.0)}, output=6)
    x, y = np.meshgrid(np.arange(-8, 8), np.arange(-8, 8))
    many = model.evaluator("parallel", processors=3, spread="bits")
    assert np.array_equal(many.words(x, y), model.words(x, y))


def test_threads_that_share_an_evaluator_get_their_own_torques(eight_cores):
    model = arm(6, workers=1)
    many = model.evaluator("parallel", processors=2, spread="bits")
    words = random_words(model, 200)
    expected = reference(model, words)
    wrong = []

    def call(first):
        for state in range(first, 200, 4):
            batch = [each[state : state + 3] for each in words]
            if not np.array_equal(many.torque_words(*batch), expected[state : state + 3]):
                wrong.append(state)
            if not np.array_equal(many.torque_words(*(each[state] for each in words)), expected[state]):
                wrong.append(state)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_thread_that_never_comes_is_done_without(eight_cores, monkeypatch):
    monkeypatch.setattr(SharedStateRunner, "_attend", lambda *_: None)
    model = arm(6, workers=1)
    words = random_words(model, 30)
    many = model.evaluator("parallel", processors=5, spread="bits")
    assert np.array_equal(many.torque_words(*words), reference(model, words))


def test_threads_sleep_when_there_is_nothing_to_do_and_wake_for_the_next_state(eight_cores):
    model = arm(6, workers=1)
    many = model.evaluator("parallel", processors=3, spread="bits")
    state = [each[0] for each in random_words(model, 1)]
    expected = model.torque_words(*state)
    for _ in range(2):
        assert np.array_equal(many.torque_words(*state), expected)
        team = many._runner
        while not team._shared[[ASLEEP + 16, ASLEEP + 32]].all():  # threads that never sleep run into pytest's timeout
            time.sleep(0.001)
    threads = [each for each in threading.enumerate() if each.name.startswith("bddtorque")]
    assert len([each for each in threads if each in team._pool._threads]) <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(eight_cores):
    model = arm(6, workers=1)
    words = random_words(model, 50)
    many = model.evaluator("parallel", processors=3, spread="bits")
    expected = many.torque_words(*words)
    many.torque_words(*(each[0] for each in words))
    many._runner._shared[16] = 1  # as if another thread had the team
    child = os.fork()
    if child == 0:
        one = np.array_equal(many.torque_words(*(each[7] for each in words)), expected[7])
        os._exit(0 if one and np.array_equal(many.torque_words(*words), expected) else 1)
    many._runner._shared[16] = 0
    guard = threading.Timer(120, os.kill, (child, signal.SIGKILL))  # only ever reached by a child that hangs
    guard.start()
    _, status = os.waitpid(child, 0)
    guard.cancel()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda used: pickle.loads(pickle.dumps(used))])
def test_a_used_evaluator_can_be_copied_and_pickled(copied, eight_cores):
    model = arm(6, workers=1)
    words = [2 * each for each in random_words(model, 20)]
    used = model.evaluator("parallel", "bits", "raise", processors=2, spread="terms")
    expected = used.torque_words(*words)
    twin = copied(used)
    assert (twin.kind, twin.form, twin.on_range, twin.processors, twin.spread) == (
        "parallel",
        "bits",
        "raise",
        2,
        "terms",
    )
    assert np.array_equal(twin.torque_words(*words), expected)
    assert used.out_of_range.any() and np.array_equal(twin.out_of_range, 2 * used.out_of_range)


def test_a_program_ends_at_once_with_threads_that_look_for_the_next_state(tmp_path):
    model = arm(4, workers=1)
    model.save(tmp_path / "arm.bdt")
    text = (
        "import numpy as np, bddtorque as bt\n"
        f"model = bt.load({str(tmp_path / 'arm.bdt')!r})\n"
        "many = model.evaluator('parallel', processors=2, spread='bits')\n"
        "state = np.zeros((3, 2), dtype=np.int64)\n"
        "assert (many.torque_words(*state) == model.torque_words(*state)).all()\n"
        "del many\n"
        "many = model.evaluator('parallel', processors=2, spread='bits')\n"
        "many.torque_words(*state); many.torque_words(*state)\n"
    )
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_kernel_is_that_of_one_processor():
    model = arm(6, workers=1)
    many, one = model.evaluator("parallel", processors=2, spread="bits"), model.evaluator("bits")
    words = [each[5] for each in random_words(model)]
    tau = np.empty(2, dtype=np.int64)
    many.kernel(*words, tau)
    assert np.array_equal(tau, one.torque_words(*words))


def test_without_compiled_code_one_processor_does_it(monkeypatch):
    model = arm(6, workers=1)
    many = model.evaluator("parallel", processors=2, spread="bits")
    monkeypatch.setattr(team_module, "DISABLE_JIT", True)
    words = random_words(model, 20)
    assert np.array_equal(many.torque_words(*words), reference(model, words))
    assert many._runner._pool is None


def test_refusals():
    model = arm(4, workers=1)
    with pytest.raises(bt.BddTorqueError, match=r"^spread must be .*, got 'term'; did you mean 'terms'\?$"):
        model.evaluator("parallel", spread="term")
    with pytest.raises(bt.BddTorqueError, match=r"^spread = 'bits' is only valid for the evaluator 'parallel'$"):
        model.evaluator("bits", spread="bits")
    with pytest.raises(
        bt.BddTorqueError, match=r"^form of the evaluator 'parallel' that spreads terms must be .*, got 'straight'$"
    ):
        model.evaluator("parallel", "straight", spread="terms")
