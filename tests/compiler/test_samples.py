"""Measured data: every rule, every refusal, and the interpolant against NumPy's and one by hand."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import main
from bddtorque.compiler.verify import verify
from bddtorque.words.bounded import Bounded
from bddtorque.words.interpolant import Interpolant, Nearest
from bddtorque.words.samples import read_samples


def csv(folder: Path, text: str, name: str = "data.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@settings(max_examples=examples(25), deadline=None)
@given(
    points=st.lists(
        st.tuples(st.floats(-5, 5, width=32), st.floats(-9, 9, width=32)),
        min_size=2,
        max_size=12,
        unique_by=lambda p: p[0],
    )
)
def test_one_argument_is_numpys_interpolation(points):
    x, y = np.array(sorted(points)).T
    law = Interpolant((tuple(x.tolist()),), tuple(y.tolist()), (False,))
    asked = np.linspace(-6, 6, 101)
    found = law.bounded([Bounded(asked)])
    wanted = np.interp(asked, x, y)
    assert (np.abs(found.value - wanted) <= np.broadcast_to(found.radius, asked.shape) + 1e-9 * np.abs(y).max()).all()
    assert np.array_equal(law(x), y)


def test_a_grid_is_multilinear_and_angles_go_round():
    q = np.arange(-4, 4) * np.pi / 4
    w = np.array([0.0, 0.4, 1.0])
    grid = np.cos(q)[:, None] * (1 + w[None, :])
    points = np.array([(a, b) for a in q for b in w])
    model = bt.compile_samples(
        (points, grid.reshape(-1)), inputs={"q": (8, "angle"), "w": (5, (0.0, 1.0))}, output=10, name="cogging"
    )

    def by_hand(a, b):
        k = np.floor((a + np.pi) / (np.pi / 4)).astype(int)
        t = (a + np.pi) / (np.pi / 4) - k
        j = np.where(b < 0.4, 0, 1)
        s = (b - w[j]) / (w[j + 1] - w[j])
        corner = lambda k, j: grid[k % 8, j]  # noqa: E731
        low = (1 - t) * corner(k, j) + t * corner(k + 1, j)
        high = (1 - t) * corner(k, j + 1) + t * corner(k + 1, j + 1)
        return (1 - s) * low + s * high

    assert model.error_of(by_hand) <= model.certificate.bound + 1e-9 < 0.501
    assert model.value(3.0, 0.5) == model.value(3.0 - 2 * np.pi, 0.5)
    law = model.plan.blocks[0].law
    turned = np.linspace(-3, 3, 25)
    assert np.allclose(law(turned + 2 * np.pi, 0.3 + 0 * turned), by_hand(turned, 0.3 + 0 * turned), atol=1e-12)
    assert model.certificate.relative_to == "samples" and model.rules["points"] == 24


def test_duplicates_are_averaged_and_reported_or_refused(tmp_path):
    file = csv(tmp_path, "v,f\n-1,-2\n0,-0.3\n0,0.5\n0,0.1\n1,2\n")
    model = bt.compile_samples(file, inputs={"v": (6, 1.0)}, output={"f": (8, 4.0)})
    assert model.certificate.spread == pytest.approx(0.4)
    assert abs(model.value(0.0) - 0.1) <= model.certificate.bound_si
    assert model.rules["samples"] == 5 and model.rules["points"] == 3
    assert "averaged" in model.report["notes"][0] and "spread of samples" in str(model.certificate)
    with pytest.raises(BddTorqueError, match=r"samples must be one per point, got 3 at v = 0 .*\(line 3 and line 4\)"):
        bt.compile_samples(file, inputs={"v": (6, 1.0)}, output={"f": (8, 4.0)}, duplicates="refuse")
    with pytest.raises(BddTorqueError, match=r"samples must agree within 0.5 at each point"):
        bt.compile_samples(file, inputs={"v": (6, 1.0)}, output={"f": (8, 4.0)}, spread=0.5)
    assert bt.compile_samples(file, inputs={"v": (6, 1.0)}, output={"f": (8, 4.0)}, spread=0.9).rules["spread"] == 0.9


def test_noise_is_averaged_over_words_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    v = np.concatenate(([-1.0, 1.0], rng.uniform(-1, 1, 4000)))
    f = 2 * v + rng.normal(0, 0.2, len(v))
    options = {"inputs": {"v": (4, 1.0)}, "output": {"f": (10, 4.0)}}
    rough = bt.compile_samples((v, f), **options)
    smooth = bt.compile_samples((v, f), merge="word", **options)
    assert smooth.rules["points"] == 16
    assert smooth.error_of(lambda x: 2 * x) < rough.error_of(lambda x: 2 * x) / 2
    assert smooth.certificate.spread > 0.3
    assert smooth.error_of(lambda x: 2 * x) * smooth.formats.results["f"].lsb < 0.1


def test_masked_values_are_refused():
    v = np.linspace(-1, 1, 5)
    masked = np.ma.masked_greater(v, 0.5)
    columns = np.ma.stack([v, masked], axis=1)
    for samples in ((v, masked), (masked, v), columns, list(columns)):
        with pytest.raises(BddTorqueError, match=r"^samples: 1 values are masked: leave out the rows that have them$"):
            bt.compile_samples(samples, inputs={"v": 4}, output=5)
    whole = np.ma.masked_greater(v, 2.0)  # none of them is
    assert bt.compile_samples((v, whole), inputs={"v": 4}, output=5).rules["samples"] == 5


def test_gaps_are_bridged_or_refused():
    v, f = np.array([-1.0, -0.2, 0.9, 1.0]), np.array([1.0, 2.0, -1.0, 0.0])
    options = {"inputs": {"v": (5, 1.0)}, "output": {"f": (10, 4.0)}}
    linear = bt.compile_samples((v, f), **options)
    assert linear.error_of(lambda x: np.interp(x, v, f)) <= linear.certificate.bound
    near = bt.compile_samples((v, f), gaps="nearest", **options)
    assert near.error_of(lambda x: f[np.abs(np.asarray(x)[..., None] - v).argmin(-1)]) <= near.certificate.bound
    with pytest.raises(BddTorqueError, match=r"each of 32 combinations of input words must have a sample, 4 have one"):
        bt.compile_samples((v, f), gaps="refuse", **options)
    full = np.linspace(-1, 1, 33)
    assert bt.compile_samples((full, full), gaps="refuse", **options).certificate.bound <= 0.5


def test_scattered_samples_need_the_nearest():
    rng = np.random.default_rng(2)
    points = np.concatenate((rng.uniform(-1, 1, (40, 2)), [[-1, -1], [1, 1]]))
    values = points.sum(axis=1)
    options = {"inputs": {"x": (4, 1.0), "y": (4, 1.0)}, "output": {"z": (8, 2.0)}}
    with pytest.raises(BddTorqueError, match=r'to interpolate, samples must fill a grid.*use gaps = "nearest"'):
        bt.compile_samples((points, values), **options)
    model = bt.compile_samples((points, values), gaps="nearest", **options)

    def nearest(x, y):
        x, y = np.broadcast_arrays(x, y)
        return values[((points - np.stack([x, y], -1)[..., None, :]) ** 2).sum(-1).argmin(-1)]

    assert model.error_of(nearest) <= model.certificate.bound


def test_of_two_samples_as_near_the_first_counts():
    law = Nearest(((0.0,), (1.0,)), (10.0, 20.0), (1.0,), (False,))
    assert law([0.4, 0.5, 0.6]).tolist() == [10.0, 10.0, 20.0]
    around = Nearest(((-3.0,), (0.0,)), (1.0, 2.0), (0.1,), (True,))
    assert around([3.0, 1.0]).tolist() == [1.0, 2.0]


def test_beyond_the_samples_nothing_is_known_unless_it_holds():
    v, f = np.array([-1.0, 0.0, 1.0]), np.array([3.0, 0.0, 2.0])
    options = {"inputs": {"v": (6, 2.0)}, "output": {"f": (8, 4.0)}}
    with pytest.raises(BddTorqueError, match=r"over all of v, -2 to 1.9375, they go from -1 to 1"):
        bt.compile_samples((v, f), **options)
    held = bt.compile_samples((v, f), extrapolation="hold", **options)
    assert held.error_of(lambda x: np.interp(x, v, f)) <= held.certificate.bound
    with pytest.raises(BddTorqueError, match=r"no sample of v is within 5 to 8"):
        bt.compile_samples((v, f), inputs={"v": (6, (5.0, 9.0))}, output={"f": 8}, extrapolation="hold")


def test_words_are_those_of_the_samples_unless_given(tmp_path):
    model = bt.compile_samples(csv(tmp_path, "speed,drag\n0,0\n10,1\n20,4\n"))
    assert list(model.formats.words) == ["speed"] and list(model.formats.results) == ["drag"] and model.name == "data"
    speed, drag = model.formats.words["speed"], model.formats.results["drag"]
    assert speed.span == pytest.approx((0.0, 20.0)) and drag.span == pytest.approx((0.0, 4.0))
    assert speed.bits == drag.bits == 12
    # columns are found by name, whatever their order
    file = csv(tmp_path, "drag,speed\n0,0\n1,10\n4,20\n", "turned.csv")
    turned = bt.compile_samples(file, inputs={"speed": 12})
    assert list(turned.formats.results) == ["drag"] and turned.value(15.0) == pytest.approx(2.5, abs=0.01)


BAD_FILES = [
    ("", "the file is empty"),
    ("v,f\n", "there are no samples below the header"),
    ("1,2\n3,4\n", "line 1: the header must hold the names of the columns, got '1'"),
    ("v,f\n1,2\n3\n", "line 3: a row must have 2 cells, got 1"),
    ("v,f\n1,2\n\n3,nan\n", "line 4, column f must be a finite number, got 'nan'"),
    ("v,f\n1,inf\n", "line 2, column f must be a finite number, got 'inf'"),
    ("v,f\n1,1e999\n", "line 2, column f must be a finite number"),
    ("v,f\nx,1\n", "line 2, column v must be a finite number, got 'x'"),
    ("v,v\n1,2\n", "line 1: column 'v' occurs twice"),
    ("v\n1\n", "columns must be 1 to 4 inputs and a value, got 1"),
    ("a,b,c,d,e,f\n1,2,3,4,5,6\n", "columns must be 1 to 4 inputs and a value, got 6"),
    ('v,f\n"1,2\n', "line 2: this is not CSV"),
    ("v,f\n1,1_000\n", "must be a finite number"),
]


@pytest.mark.parametrize(("text", "said"), BAD_FILES)
def test_bad_files_are_refused_in_one_line_with_its_number(text, said, tmp_path):
    with pytest.raises(BddTorqueError, match=said) as problem:
        bt.compile_samples(csv(tmp_path, text))
    assert "\n" not in str(problem.value) and "data.csv" in str(problem.value)


def test_bad_arrays_and_rules_are_refused(tmp_path):
    with pytest.raises(BddTorqueError, match=r"there is no such file"):
        read_samples(tmp_path / "none.csv")
    with pytest.raises(BddTorqueError, match=r"row 1: y must be finite, got nan"):
        read_samples(np.array([[0.0, 1.0], [1.0, np.nan]]))
    with pytest.raises(BddTorqueError, match=r"shape"):
        read_samples(np.zeros(4))
    with pytest.raises(BddTorqueError, match=r"samples must be 1 to .* samples, got 0"):
        read_samples(np.zeros((0, 2)))
    with pytest.raises(
        BddTorqueError, match=r"gaps must be 'linear', 'nearest' or 'refuse', got 'linea'; did you mean 'linear'"
    ):
        bt.compile_samples(np.eye(2), gaps="linea")
    with pytest.raises(BddTorqueError, match=r"'speed' is missing"):
        bt.compile_samples(csv(tmp_path, "sped,f\n1,2\n2,3\n"), inputs={"speed": 8}, output={"f": 8})
    with pytest.raises(BddTorqueError, match=r"one table takes at most 20 together"):
        bt.compile_samples(np.random.default_rng(0).uniform(size=(9, 3)), inputs=[12, 12])


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    csv(tmp_path, "velocity,torque\n-1,-3\n-0.1,-2\n0.1,2\n0.1,2.2\n1,3.5\n", "friction.csv")
    assert (
        main(["compile", "--samples", "friction.csv", "--word", "velocity=8:-1:1", "--word", "torque=10:4", "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["bits"] == {"velocity": [8], "torque": [10]}
    assert found["certificate"]["outputs"][0]["spread"] == pytest.approx(0.1) and max(found["bound"]) <= 0.5001
    assert main(["info", "friction.bdt"]) == 0
    assert "interpolant of the samples" in capsys.readouterr().out
    assert main(["info", "friction.bdt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == found["digest"]
    assert main(["verify", "friction.bdt", "--workers", "1"]) == 0
    assert all(check.passed for check in verify("friction.bdt", workers=1))
    capsys.readouterr()
    for arguments, said in (
        (["compile"], "compile needs SPEC .* or --samples FILE"),
        (["compile", "planar2r", "--samples", "friction.csv"], "SPEC cannot be given with --samples"),
        (["compile", "planar2r", "--gaps", "linear"], "--gaps can only be given with --samples"),
        (["compile", "--samples", "friction.csv", "--velocity", "3"], "--velocity cannot be given with --samples"),
        (
            ["compile", "--samples", "friction.csv", "--word", "speed=8"],
            "must name a column of friction.csv .*, got 'speed'",
        ),
        (["compile", "--samples", "friction.csv", "--word", "velocity=x"], "COLUMN=BITS"),
        (["compile", "--samples", "friction.csv", "--word", "velocity=8:-3:3"], "use a narrower range"),
        (
            ["compile", "--samples", "friction.csv", "-o", "friction.csv"],
            "-o would overwrite friction.csv, which this command reads",
        ),
        (["eval", "friction.bdt", "--q", "1"], "function .friction. takes velocity: got --q"),
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert re.search(said, err), err
