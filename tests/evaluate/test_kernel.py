"""The kernel in a user's own compiled loop: words, refusals, lifetime, threads, and no cache on disk."""

import gc
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from compiled import arm, random_words, some_words
from numba.core.errors import TypingError

import bddtorque as bt


def looped(kernel):
    """Return a compiled loop of a user around a kernel."""

    @numba.njit(nogil=True)
    def loop(q, qd, qdd, tau):
        for state in range(len(q)):
            kernel(q[state], qd[state], qdd[state], tau[state])

    return loop


@pytest.mark.parametrize(
    "kind",
    [
        ("words", "straight"),
        *(pytest.param(kind, marks=pytest.mark.everything) for kind in (("bits", None), ("words", "dense"))),
    ],
    ids=str,
)
def test_a_users_loop_gives_the_words_of_the_evaluator(kind):
    model = arm(6, workers=1)
    words = some_words(model, 5000)
    tau = np.empty(words[0].shape, dtype=np.int64)
    looped(model.evaluator(*kind).kernel)(*words, tau)
    assert np.array_equal(tau, model.torque_words(*words))


REFUSED = [
    (0, np.zeros(2), "an integer array"),
    (1, np.zeros((1, 2), np.int64), "an integer array"),
    (2, np.zeros(2, bool), "an integer array"),
    (3, np.zeros(2), "a writable int64 array"),
    (3, np.zeros(2, np.int32), "a writable int64 array"),
]


@pytest.mark.slow  # Numba infers all types before it says what is wrong: of a program more than of straight-line code
@pytest.mark.parametrize(
    ("place", "wrong", "wanted", "target"),
    [
        *((*case, "float") for case in REFUSED[:1] + REFUSED[-1:]),
        *(pytest.param(*case, "float", marks=pytest.mark.everything) for case in REFUSED[1:-1]),
        *(pytest.param(*case, "tables", marks=pytest.mark.everything) for case in REFUSED),
    ],
)
def test_a_kernel_refuses_what_is_no_array_of_words(place, wrong, wanted, target):
    given = [np.zeros(2, dtype=np.int64) for _ in range(4)]
    given[place] = wrong
    kernel = arm(6, workers=1, target=target).kernel()
    with pytest.raises(TypingError, match=rf"kernel: {('q', 'qd', 'qdd', 'tau')[place]} must be {wanted} of shape"):
        kernel(*given)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_kernel_refuses_arrays_of_another_length(place, length):
    given = [np.zeros(2, dtype=np.int64) for _ in range(4)]
    given[place] = np.zeros(length, dtype=np.int64)
    with pytest.raises(ValueError, match="shape"):
        arm(6, workers=1).kernel()(*given)


@pytest.mark.slow  # every set of types is compiled
@pytest.mark.parametrize(
    ("types", "form"),
    [
        ((np.int8, np.int16, np.int32), "straight"),
        ((np.uint8, np.uint64, np.uint64), "straight"),
        pytest.param((np.int8, np.uint16, np.uint64), "dense", marks=pytest.mark.everything),
    ],
)
def test_a_kernel_takes_any_integers_and_any_strides(types, form):
    model = arm(6, workers=1)
    kernel = model.evaluator("words", form).kernel
    ends = [np.array([[np.iinfo(t).min, np.iinfo(t).max], [np.iinfo(t).max, 5]], dtype=t) for t in types]
    tau = np.zeros((2, 4), dtype=np.int64)
    for state in range(2):
        kernel(*(each[state, ::-1] for each in ends), tau[state, ::2])
    held = [kind.held(each[:, ::-1]) for kind, each in zip(model.formats.inputs, ends, strict=True)]
    assert np.array_equal(tau[:, ::2], model.torque_words(*held))
    assert not tau[:, 1::2].any()


@pytest.mark.parametrize("target", ["tables", pytest.param("float", marks=pytest.mark.everything)])
def test_a_kernel_outlives_its_model(target):
    model = bt.compile("planar2r", bits=5, target=target, workers=1)
    words = random_words(model, 2000)
    expected = model.torque_words(*words)
    loop = looped(model.kernel())
    del model
    gc.collect()
    noise = [np.full(1 << 16, 77, dtype=np.int32) for _ in range(50)]  # lies where freed tables would have been
    tau = np.empty(words[0].shape, dtype=np.int64)
    loop(*words, tau)
    assert np.array_equal(tau, expected) and len(noise) == 50


def test_threads_share_a_kernel_and_an_evaluator():
    model = arm(6, workers=1)
    loop, words = looped(model.kernel()), random_words(model, 40_000)
    expected = model.torque_words(*words)
    batches = [slice(k, None, 4) for k in range(4)]

    def run(part):
        mine = [np.ascontiguousarray(each[part]) for each in words]
        tau = np.empty(mine[0].shape, dtype=np.int64)
        for _ in range(5):
            tau[:] = 0
            loop(*mine, tau)
            assert np.array_equal(tau, model.torque_words(*mine))
        return tau

    with ThreadPoolExecutor(2) as threads:
        for part, tau in zip(batches, threads.map(run, batches), strict=True):
            assert np.array_equal(tau, expected[part])


@pytest.mark.everything  # four processes
def test_a_loop_that_asks_for_a_cache_never_reads_the_tables_of_another_process(tmp_path):
    script = tmp_path / "controller.py"
    script.write_text(
        textwrap.dedent("""
        import sys, warnings
        import numba, numpy as np
        import bddtorque as bt
        from numba.core.errors import NumbaWarning

        model = bt.compile("planar2r", bits=int(sys.argv[1]), target=sys.argv[2], workers=1)
        kernel = model.kernel()

        @numba.njit(cache=True)
        def loop(q, qd, qdd, tau):
            for state in range(len(q)):
                kernel(q[state], qd[state], qdd[state], tau[state])

        words = [np.random.default_rng(k).integers(-4, 4, (500, 2)) for k in range(3)]
        tau = np.zeros((500, 2), dtype=np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)  # that it cannot be cached
            loop(*words, tau)
        assert np.array_equal(tau, model.torque_words(*words))
        """)
    )
    for bits, target in (("3", "tables"), ("4", "tables"), ("4", "float"), ("3", "float")):
        done = subprocess.run([sys.executable, str(script), bits, target], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
