"""`eval`: single states, CSV and npy, words, ranges, and everything a file can get wrong."""

import io
import json

import numpy as np
import pytest

from bddtorque.cli.eval_command import column_names

HEADER = "q:shoulder,q:elbow,qd:shoulder,qd:elbow,qdd:shoulder,qdd:elbow"


@pytest.fixture
def states():
    rng = np.random.default_rng(1)
    return rng.uniform([-3, -3, -1, -1, -1, -1], [3, 3, 0.9, 0.9, 0.9, 0.9], (50, 6))


def parsed(text):
    return np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)


def csv_of(states, header=HEADER):
    return header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in states.tolist())


def test_column_names(model):
    assert ",".join(column_names(model.formats.inputs)) == HEADER


@pytest.mark.parametrize("evaluator", ["words", "bits"])
def test_a_state_on_the_command_line(run, model, model_file, evaluator):
    state = ["--q", "-0.5,0.25", "--qd", "0.5,-0.5", "--qdd", "0.1,0.2"]
    ran = run("eval", model_file, *state, "--evaluator", evaluator)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("tau:shoulder,tau:elbow\n")
    assert parsed(ran.out)[0].tolist() == model.torque([-0.5, 0.25], [0.5, -0.5], [0.1, 0.2]).tolist()


def test_what_is_not_given_is_zero(run, model, model_file):
    assert (
        parsed(run("eval", model_file, "--q", "1,2").out)[0].tolist() == model.torque([1, 2], [0, 0], [0, 0]).tolist()
    )


def test_words_in_words_out(run, model, model_file):
    ran = run("eval", model_file, "--words", "--q", "-3,7", "--qd", "1,1", "--qdd", "0,-9")
    assert ran.out.splitlines()[1] == ",".join(map(str, model.torque_words([-3, 7], [1, 1], [0, -9]).tolist()))


def test_json(run, model, model_file):
    told = json.loads(run("eval", model_file, "--q", "1,2", "--qd", "5,0", "--json").out)
    assert told["outputs"] == ["tau:shoulder", "tau:elbow"]
    assert told["units"] == ["N·m", "N·m"]
    assert told["values"] == [model.torque([1, 2], [5, 0], [0, 0]).tolist()]
    assert told["out_of_range"] == {"qd:shoulder": 1}


def test_csv_round_trip_is_the_model(run, model, model_file, states, tmp_path):
    (tmp_path / "states.csv").write_text(csv_of(states), encoding="utf-8")
    expected = model.torque(states[:, :2], states[:, 2:4], states[:, 4:])
    ran = run("eval", model_file, tmp_path / "states.csv")
    assert np.array_equal(parsed(ran.out), expected)
    assert run("eval", model_file, tmp_path / "states.csv", "-o", tmp_path / "torques.csv") == (0, "", "")
    assert (tmp_path / "torques.csv").read_text(encoding="utf-8") == ran.out
    assert run("eval", model_file, tmp_path / "states.csv", "-o", tmp_path / "torques.npy") == (0, "", "")
    assert np.array_equal(np.load(tmp_path / "torques.npy"), expected)


def test_pieces_are_joined(run, model, model_file, states, tmp_path, monkeypatch):
    monkeypatch.setattr("bddtorque.cli.eval_command.PIECE", 7)
    (tmp_path / "states.csv").write_text(csv_of(states), encoding="utf-8")
    np.save(tmp_path / "states.npy", states)
    expected = model.torque(states[:, :2], states[:, 2:4], states[:, 4:])
    for name in ("states.csv", "states.npy"):
        ran = run("eval", model_file, tmp_path / name)
        assert np.array_equal(parsed(ran.out), expected)
        assert ran.out.count("tau") == 2


def test_columns_in_any_order(run, model_file, states, tmp_path):
    order = [3, 0, 5, 1, 4, 2]
    header = ",".join(HEADER.split(",")[k] for k in order)
    (tmp_path / "a.csv").write_text(csv_of(states), encoding="utf-8")
    (tmp_path / "b.csv").write_text("\ufeff" + csv_of(states[:, order], header) + "\n\n", encoding="utf-8")
    assert run("eval", model_file, tmp_path / "a.csv").out == run("eval", model_file, tmp_path / "b.csv").out


def test_standard_input(run, model_file, states, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text(csv_of(states), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(csv_of(states)))
    assert run("eval", model_file, "-").out == run("eval", model_file, tmp_path / "a.csv").out


def test_npy_of_words(run, model, model_file, tmp_path):
    words = np.arange(-12, 12, dtype=np.int16).reshape(4, 6)
    np.save(tmp_path / "words.npy", words)
    expected = model.torque_words(words[:, :2], words[:, 2:4], words[:, 4:])
    assert np.array_equal(parsed(run("eval", model_file, tmp_path / "words.npy", "--words").out), expected)
    run("eval", model_file, tmp_path / "words.npy", "--words", "-o", tmp_path / "out.npy")
    assert np.load(tmp_path / "out.npy").dtype == np.int64


def test_a_file_without_states(run, model_file, tmp_path):
    (tmp_path / "none.csv").write_text(HEADER + "\n", encoding="utf-8")
    assert run("eval", model_file, tmp_path / "none.csv").out == "tau:shoulder,tau:elbow\n"
    np.save(tmp_path / "none.npy", np.empty((0, 6)))
    assert run("eval", model_file, tmp_path / "none.npy").out == "tau:shoulder,tau:elbow\n"


def test_out_of_range_is_counted_beside_the_result(run, model, model_file):
    ran = run("eval", model_file, "--q", "9,0", "--qd", "0,-4")
    assert ran.code == 0
    assert parsed(ran.out)[0].tolist() == model.torque([9, 0], [0, -4], [0, 0]).tolist()
    assert ran.err == "bddtorque: out of range: q:shoulder 1, qd:elbow 1; angles wrap, others saturate\n"


def test_out_of_range_can_be_refused(refused, model_file, tmp_path):
    assert "velocity of joint 'elbow' must be between -1 and 1 rad/s, got 4" in refused(
        "eval", model_file, "--q", "0,0", "--qd", "0,4", "--on-range", "raise"
    )
    assert "qd:elbow 1" in refused("eval", model_file, "--words", "--qd", "0,400", "--on-range", "raise")
    (tmp_path / "far.csv").write_text(f"{HEADER}\n0,0,0,0,0,0\n0,0,0,0,7,0\n", encoding="utf-8")
    target = tmp_path / "torques.csv"
    assert "lines 2 to 3" in refused("eval", model_file, tmp_path / "far.csv", "--on-range", "raise", "-o", target)
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty: the first line must name the columns"),
        ("\n1,2\n", "missing columns q:shoulder"),
        (HEADER.replace("q:elbow,", "", 1) + "\n", "missing columns q:elbow"),
        (HEADER.replace("qd:elbow", "qd:elbo") + "\n", "; did you mean 'qd:elbow'?"),
        (HEADER + ",time\n", "unknown column 'time'"),
        (HEADER.replace("q:elbow", "q:shoulder", 1) + "\n", "occurs twice"),
        (HEADER + "\n1,2,3\n", "line 2: a row must have 6 cells, got 3"),
        (HEADER + "\n0,0,0,0,0,0\n0,0,0,nan,0,0\n", "line 3, column qd:elbow must be a finite number, got 'nan'"),
        (HEADER + "\n0,0,0,0,inf,0\n", "line 2, column qdd:shoulder"),
        (HEADER + "\n0,0,0,0,1e999,0\n", "line 2, column qdd:shoulder"),
        (HEADER + "\n0,0,0,0,,0\n", "got ''"),
        (HEADER + "\n0,1_0,0,0,0,0\n", "got '1_0'"),
        (HEADER + "\n0,one,0,0,0,0\n", "column q:elbow"),
        (HEADER + "\n1e20,0,0,0,0,0\n", "turns"),
        (HEADER + '\n"0,0,0,0,0,0\n', "not CSV"),
        (HEADER + "\n\x00,0,0,0,0,0\n", "line 2"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_bad_csv_says_line_and_column(refused, model_file, tmp_path, content, said):
    path = tmp_path / "states.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused("eval", model_file, path, "-o", tmp_path / "torques.csv")
    assert str(path) in message
    assert said in message
    assert list(tmp_path.iterdir()) == [path]


def test_csv_of_words_takes_integers_only(refused, model_file, tmp_path):
    path = tmp_path / "states.csv"
    for cell in ("0.5", "9" * 30, "1e3", ""):
        path.write_text(f"{HEADER}\n0,0,0,0,0,{cell}\n", encoding="utf-8")
        assert "must be an integer word" in refused("eval", model_file, path, "--words", "--output", tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((3, 5)), "shape must be (N, 6)"),
        (np.zeros(6), "shape must be (N, 6)"),
        (np.full((2, 6), np.nan), "row 0 (from 0), column 0 (q:shoulder)"),
        (np.zeros((2, 6), dtype=complex), "must hold real numbers, got complex128"),
        (np.zeros((2, 6), dtype=bool), "must hold real numbers, got bool"),
    ],
)
def test_bad_npy(refused, model_file, tmp_path, array, said):
    np.save(tmp_path / "states.npy", array)
    assert said in refused("eval", model_file, tmp_path / "states.npy", "-o", tmp_path / "torques.csv")
    assert not (tmp_path / "torques.csv").exists()


def test_hostile_npy(refused, model_file, tmp_path):
    path = tmp_path / "states.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 6), }"
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([["x", None]], dtype=object), allow_pickle=True)
    contents = (b"", b"text", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header, pickled.read_bytes())
    for content in contents:
        path.write_bytes(content)
        assert "npy file" in refused("eval", model_file, path)
    np.save(path, np.zeros((2, 6)))
    assert "must hold integers" in refused("eval", model_file, path, "--words")
    assert "no such file" in refused("eval", model_file, tmp_path / "missing.npy")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "either a file of states or --q"),
        (["states.csv", "--q", "0,0"], "either a file of states or --q"),
        (["states.txt"], ".csv or .npy"),
        (["missing.csv"], "no such file"),
        (["--q", "0"], "--q must be 2 numbers"),
        (["--q", "0,zero"], "--q must be 2 numbers"),
        (["--q", "0,nan"], "finite"),
        (["--q", "0.5,0", "--words"], "--q must be 2 integers"),
        (["--q", f"0,{2**70}", "--words"], "64 bits"),
        (["--q", "0,0", "--evaluator", "letters"], "evaluator"),
        (["--q", "0,0", "--on-range", "cry"], "'saturate' or 'raise'"),
        (["--q", "0,0", "-o", "torques.xls"], ".csv or .npy"),
        (["--q", "0,0", "-o", "no/such/folder/t.csv"], "-o: there is no folder"),
        (["--q", "0,0", "--json", "-o", "t.csv"], "-o and --json cannot be given together"),
    ],
)
def test_bad_use(refused, model_file, arguments, said):
    assert said in refused("eval", model_file, *arguments)


def test_an_interrupted_evaluation_leaves_nothing(run, model_file, states, tmp_path, monkeypatch):
    (tmp_path / "states.csv").write_text(csv_of(states), encoding="utf-8")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bddtorque.base.files.os.fsync", interrupt)
    for name in ("torques.csv", "torques.npy"):
        assert run("eval", model_file, tmp_path / "states.csv", "-o", tmp_path / name).code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["states.csv"]
