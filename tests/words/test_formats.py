"""Interface: round trips, half a unit, ends, ties, signs and offsets; compiled = NumPy."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact import exact_parts
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.words import kernels
from bddtorque.words.formats import MAX_TURNS, TURN, Format
from bddtorque.words.interface import Interface, interface_from_plain, word_vector

BITS = st.integers(2, 24)
SIGNS = st.sampled_from([1, -1])


@st.composite
def ranges(draw: st.DrawFn) -> Format:
    low = draw(st.floats(-1000, 1000))
    width = draw(st.floats(1e-3, 1000))
    ends = low, low + width, draw(SIGNS), draw(st.floats(-100, 100))
    return Format("range", draw(BITS), *ends, signed=draw(st.booleans()))


@st.composite
def angles(draw: st.DrawFn) -> Format:
    return Format("angle", draw(BITS), sign=draw(SIGNS), offset=draw(st.floats(-10, 10)))


FORMATS = angles() | ranges()


def exactly(word: Format, value: int) -> mpmath.mpf:
    turns, rest = exact_parts(word, value)
    return 2 * mpmath.pi * turns.numerator / turns.denominator + mpmath.mpf(rest.numerator) / rest.denominator


def compiled(word: Format, x: np.ndarray) -> tuple[np.ndarray, int]:
    packed = kernels.pack(word_vector("words", ["word"], (word,)))
    words, outside = zip(*(kernels.quantise_value(float(value), packed, 0) for value in x), strict=True)
    return np.array(words), sum(outside)


@given(FORMATS, st.data())
def test_round_trip(word: Format, data: st.DataObject) -> None:
    words = np.array(data.draw(st.lists(st.integers(word.lowest, word.highest), min_size=1)))
    words = np.concatenate([words, word.held([word.lowest, word.lowest + 1, -1, 0, 1, word.highest])])
    values = word.dequantise(words)
    again, outside = word.quantise_counted(values)
    assert again.tolist() == words.tolist()
    assert outside == 0
    with mpmath.workdps(40):
        for value, each in zip(values, words.tolist(), strict=True):
            assert abs(exactly(word, each) - value) < 0.01 * word.lsb


@pytest.mark.parametrize("bits", range(2, 25))
@pytest.mark.parametrize("kind", ["angle", "range"])
def test_round_trip_of_every_word_up_to_16_bits_and_a_comb_beyond(kind: str, bits: int) -> None:
    word = Format("angle", bits) if kind == "angle" else Format("range", bits, -1.3, 2.9)
    words = np.arange(word.lowest, word.highest + 1, max(1, (1 << bits) // 65521))
    assert np.array_equal(word.quantise(word.dequantise(words)), words)


@given(FORMATS, st.floats(0, 1), st.floats(0, 1))
def test_error_at_most_half_a_unit(word: Format, along: float, beside: float) -> None:
    low, high = word.span
    x = np.array([low + along * (high - low), low + beside * (high - low)])
    words = word.quantise(x)
    with mpmath.workdps(40):
        for value, each in zip(x, words.tolist(), strict=True):
            error = abs(exactly(word, each) - mpmath.mpf(value))
            if word.kind == "angle":
                error = min(error, abs(error - 2 * mpmath.pi))
            assert error <= word.lsb * (0.5 + 2**-6)
    assert np.array_equal(compiled(word, x)[0], words)


@given(ranges(), st.lists(st.floats(-5000, 5000), min_size=2))
def test_ranges_are_monotone_and_saturate(word: Format, values: list[float]) -> None:
    x = np.sort(np.array(values))
    words, outside = word.quantise_counted(x)
    assert np.all(np.diff(words) * word.sign >= 0)
    assert np.all((words >= word.lowest) & (words <= word.highest))
    low, high = word.span
    # float rounding may decide either way right at the border
    certainly = np.count_nonzero((x < low - 0.51 * word.lsb) | (x > high + 0.51 * word.lsb))
    possibly = np.count_nonzero((x < low - 0.49 * word.lsb) | (x > high + 0.49 * word.lsb))
    assert certainly <= outside <= possibly
    again, count = compiled(word, x)
    assert np.array_equal(again, words)
    assert count == outside


@given(angles(), st.floats(-TURN / 2, TURN / 2), st.floats(0, TURN / 4))
def test_angles_are_monotone_modulo_a_turn(word: Format, start: float, step: float) -> None:
    first, second = word.quantise([start, start + step]).tolist()
    forwards = (second - first) * word.sign % (1 << word.bits)
    assert forwards <= (1 << word.bits) // 4 + 1


@given(BITS, st.integers(-(2**23), 2**23), st.floats(-math.pi, math.pi))
def test_angles_wrap_far_from_zero(bits: int, turns: int, start: float) -> None:
    word = Format("angle", bits)
    x = start + turns * TURN
    found = int(word.quantise(x))
    with mpmath.workdps(50):
        units = mpmath.mpf(x) / (2 * mpmath.pi) * 2**bits
        error = (found - units) % 2**bits
        assert min(error, 2**bits - error) <= 0.5 + 1e-6
    assert compiled(word, np.array([x]))[0][0] == found


def test_half_a_turn_is_the_lowest_word() -> None:
    for bits in range(2, 33):
        word = Format("angle", bits)
        assert word.quantise([math.pi, -math.pi, 3 * math.pi]).tolist() == [word.lowest] * 3
        assert compiled(word, np.array([math.pi, -math.pi, 3 * math.pi]))[0].tolist() == [word.lowest] * 3
        # just below the last tie before half a turn
        x = math.pi - 0.5001 * word.lsb
        assert int(word.quantise(x)) == word.highest


def test_angle_ties_go_away_from_zero_in_every_turn() -> None:
    word = Format("angle", 4)
    x = np.array([0.5, -0.5, 1.5, -1.5, 16.5, 15.5, -16.5]) * TURN / 16
    # a tie is a tie only up to the rounding of 2π, but not on either side of one turn
    assert word.quantise(x[:4]).tolist() == [1, -1, 2, -2]
    assert abs(int(word.quantise(x[4]))) <= 1
    assert np.array_equal(word.quantise(x), compiled(word, x)[0])


def test_range_ties_and_ends() -> None:
    word = Format("range", 3, -4.0, 4.0)
    assert (word.lsb, word.lowest, word.highest, word.span) == (1.0, -4, 3, (-4.0, 3.0))
    x = np.array([0.5, -0.5, 2.5, -2.5, 3.5, 4.0, -4.0, -4.5, -4.6, 1e308, -1e308])
    words, outside = word.quantise_counted(x)
    assert words.tolist() == [1, -1, 3, -3, 3, 3, -4, -4, -4, 3, -4]
    assert outside == 4  # 4.0, -4.6 and the two large ones: 3.5 and -4.5 are within half a unit of a word
    assert compiled(word, x)[0].tolist() == words.tolist()
    assert compiled(word, x)[1] == outside


def test_asymmetric_range_with_sign_and_offset() -> None:
    word = Format("range", 4, 0.0, 16.0, sign=-1, offset=2.0)
    assert word.centre == 8.0
    assert word.dequantise([-8, 0, 7]).tolist() == [2.0, -6.0, -13.0]
    assert word.quantise([2.0, -6.0, -13.0, -6.4]).tolist() == [-8, 0, 7, 0]
    assert exact_parts(word, 7) == (0, -13)
    assert word.span == (-13.0, 2.0)


def test_angle_with_sign_and_offset_and_limits() -> None:
    word = Format("angle", 8, low=-1.0, high=2.0, sign=-1, offset=0.5)
    assert word.dequantise(64) == pytest.approx(0.5 - math.pi / 2)
    assert exact_parts(word, 64) == (Fraction(-1, 4), Fraction(1, 2))
    # raw = 0.5 - x: -1 <= raw <= 2 is -1.5 <= x <= 1.5; beyond is counted, not changed
    words, outside = word.quantise_counted([-1.5, 1.5, 1.6, -1.6, 0.5])
    assert outside == 2
    assert words.tolist() == [81, -41, -45, 86, 0]
    assert compiled(word, np.array([-1.5, 1.5, 1.6, -1.6, 0.5]))[1] == 2


def test_wild_words_are_masked_or_clamped() -> None:
    angle, scaled = Format("angle", 8), Format("range", 8, -1.0, 1.0)
    wild = np.array([128, -129, 2**63 - 1, -(2**63), 5])
    assert angle.held(wild).tolist() == [-128, 127, -1, 0, 5]
    assert scaled.held(wild).tolist() == [127, -128, 127, -128, 5]
    assert scaled.held(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [127]
    assert scaled.held(np.array([-3, 100], dtype=np.int8)).tolist() == [-3, 100]
    assert angle.dequantise(np.int64(2**63 - 1)) == angle.dequantise(-1)


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (math.nan, "nan$"),
        ([0.0, math.inf], r"inf at \[1\]$"),
        ([[0.0], [-math.inf]], r"-inf at \[1, 0\]$"),
    ],
)
@pytest.mark.parametrize("kind", ["angle", "range"])
def test_not_finite_is_refused(kind: str, x: object, found: str) -> None:
    word = Format("angle", 8, name="position of joint 'a'") if kind == "angle" else Format("range", 8, -1, 1, name="v")
    with pytest.raises(BddTorqueError, match=r"^(position of joint 'a'|v) must be finite.*, got " + found):
        word.quantise(x)


def test_angles_too_far_away_are_refused() -> None:
    word = Format("angle", 8)
    with pytest.raises(BddTorqueError, match=r"must be finite angles of at most 16,777,216 turns, got"):
        word.quantise(1.01 * MAX_TURNS * TURN)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "float"}, "kind must be 'angle' or 'range', got 'float'"),
        ({"bits": 1}, "bits must be between 2 and 32, got 1"),
        ({"bits": 33}, "got 33"),
        ({"bits": 8.0}, "bits must be an integer, got 8.0"),
        ({"bits": True}, "bits must be an integer, got True"),
        ({"low": 1.0}, "low must be below high, got 1.0 and 1.0"),
        ({"low": math.nan}, "low must be below high"),
        ({"low": "a"}, "low must be a number, got 'a'"),
        ({"high": math.inf}, "the range must be finite"),
        ({"low": -1e308, "high": 1e308}, "the range must be finite"),
        ({"low": 1e9, "high": 1e9 + 1e-3}, "use fewer bits, a wider range"),
        ({"sign": 0}, "sign must be 1 or -1, got 0"),
        ({"offset": math.nan}, "offset must be a finite number, got nan"),
        ({"kind": "angle", "offset": 1e16}, "a smaller offset"),
    ],
)
def test_nonsense_formats_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        Format(**{"kind": "range", "bits": 12, "low": -1.0, "high": 1.0, **fields})  # type: ignore[arg-type]


def arm() -> Interface:
    joints = ("turn", "slide")
    q = word_vector("q", joints, (Format("angle", 8, -3.0, 3.0), Format("range", 10, 0.0, 0.5, -1, 0.25)))
    qd = word_vector("qd", joints, (Format("range", 8, -1.0, 1.0), Format("range", 9, -2.0, 2.0)))
    qdd = word_vector("qdd", joints, qd.words)
    tau = word_vector("tau", joints, (Format("range", 12, -200.0, 200.0), Format("range", 12, -100.0, 100.0)))
    return Interface((q, qd, qdd), (tau,))


def test_joint_formats() -> None:
    formats = arm()
    assert formats.q.bits == (8, 10)
    assert formats.qd.lsb.tolist() == [2 / 256, 4 / 512]
    assert formats.tau[1].lsb == 200 / 4096
    assert formats.q.lowest.tolist() == [-128, -512]
    assert formats.q.highest.tolist() == [127, 511]
    assert len(formats.inputs) == 3
    x = np.array([[0.1, 0.2], [3.1, -3.0]])
    words, counts = formats.q.quantise_counted(x)
    assert counts.tolist() == [1, 1]
    assert formats.q.quantise(x[0]).tolist() == words[0].tolist()
    assert np.abs(formats.q.dequantise(words) - x)[0].max() <= formats.q.lsb.max() / 2
    assert formats.q.held(words).tolist() == words.tolist()
    assert formats.q.quantise(np.empty((0, 2))).shape == (0, 2)
    packed = kernels.pack(formats.q)
    back = [[kernels.dequantise_value(word, packed, joint) for joint, word in enumerate(row)] for row in words.tolist()]
    assert np.array_equal(back, formats.q.dequantise(words))


@pytest.mark.parametrize("x", [[1.0], [1.0, 2.0, 3.0], 1.0, np.zeros((2, 2, 2)), [[1.0, 2.0], [1.0]]])
def test_bad_shapes_are_refused(x: object) -> None:
    with pytest.raises(BddTorqueError, match=r"^q must have shape \(2,\) or \(N, 2\), got "):
        arm().q.quantise(x)  # type: ignore[arg-type]


def test_bad_types_are_refused() -> None:
    with pytest.raises(BddTorqueError, match="must be real numbers, got <U1"):
        arm().q.quantise(["a", "b"])
    with pytest.raises(BddTorqueError, match="must be real numbers, got complex128"):
        arm().q.quantise([1j, 2])
    with pytest.raises(BddTorqueError, match="words must be integers, got float64"):
        arm().q.dequantise([1.0, 2.0])


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["inputs", 0, "words", 0, "bits"], 99, r"^words, inputs\[0\], word 0: word: bits must be between 2 and 32"),
        (["inputs", 0, "words", 0, "kind"], [], r"^words, inputs\[0\], word 0: word: kind must be"),
        (["outputs", 0, "words", 1, "high"], None, r"^words, outputs\[0\], word 1: word: the range must be finite"),
        (["outputs", 0, "words", 1, "name"], 3, r"^words, outputs\[0\], word 1, name must be text, got 3"),
        (["inputs", 0, "words", 0], 5, r"^words, inputs\[0\], word 0 must be a table with kind, .*, got 5"),
        (["inputs", 0, "words", 0, "bit"], 5, r"unknown key 'bit'; did you mean 'bits'\?"),
        (["inputs", 1, "words"], 4, r"^words, inputs\[1\], words must be a list, got 4"),
        (["inputs", 1, "labels"], [1, 2], r"^words, inputs\[1\], labels must be text, got 1"),
        (
            ["inputs", 1, "labels"],
            ["a", "a"],
            r"^words, inputs\[1\]: array qd: 2 words must have a label each, all diff",
        ),
        (["inputs", 1, "labels"], "ab", r"^words, inputs\[1\], labels must be a list"),
        (["inputs", 1, "name"], "q", "^words: input array 'q' occurs twice"),
        (["inputs", 1, "name"], "", r"^words, inputs\[1\], name must be printable text"),
        (
            ["inputs", 1, "shape"],
            [2, 1, 1],
            r"^words, inputs\[1\], shape must be that of a number, a vector or a matrix",
        ),
        (["inputs", 1, "shape"], [3], r"^words, inputs\[1\]: array qd of shape \(3,\) has 2 words$"),
        (["inputs", 1, "shape"], [0], r"^words, inputs\[1\], shape must be .* got 0"),
        (["inputs", 1, "shape"], [4096, 4096], r"^words, inputs\[1\], shape must be "),
        (["inputs", 1, "shape"], 2, r"^words, inputs\[1\], shape must be a list, got 2"),
        (["inputs"], [], "^words must have arrays that go in and arrays that come out"),
        (["outputs"], {}, "^words, outputs must be a list"),
        (["derived"], [], "^words: unknown key 'derived'"),
    ],
)
def test_altered_plain_is_refused(path: list[str | int], value: object, message: str) -> None:
    plain = arm().to_plain()
    target = plain
    for step in path[:-1]:
        target = target[step]  # type: ignore[index]
    target[path[-1]] = value  # type: ignore[index]
    with pytest.raises(BddTorqueError, match=message):
        interface_from_plain(plain, "words")


def test_plain_with_a_missing_key_is_refused() -> None:
    plain = arm().to_plain()
    del plain["inputs"][0]["words"][1]["offset"]
    with pytest.raises(BddTorqueError, match=r"^header, inputs\[0\], word 1: key 'offset' is missing$"):
        interface_from_plain(plain, "header")


def test_words_need_numpy_and_numba_only() -> None:
    script = (
        "import sys\n"
        "for name in ('rich', 'typer', 'dd', 'mpmath'): sys.modules[name] = None\n"
        "import bddtorque.words, bddtorque.words.kernels\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
