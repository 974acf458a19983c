"""``bddtorque ask``."""

import json
import re

import numpy as np
import pytest
from compiled import arm
from every_state import every_word, small

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.cli.ask_command import AskOptions, answer_row
from bddtorque.questions import WORK, Count, largest


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("ask") / "narrow.bdt"
    small("narrow").save(path)
    return path


@pytest.fixture
def ask(capsys, file):
    def asking(*arguments):
        code = main(["ask", str(file), *map(str, arguments)])
        return code, *capsys.readouterr()

    return asking


def test_without_a_question_the_range_and_saturation_are_told(ask):
    code, out, err = ask()
    assert (code, err) == (0, "")
    assert out.count("exact") == 6 and "bracket" not in out and "states that saturate" in out
    assert "\ntau1 largest: at q1" in out and "N·m" in out  # in the whole width, not in a column


def test_answers_for_programs(ask):
    code, out, _ = ask("--json", "--largest", "--at-least", "25", "--saturation")
    answers = json.loads(out)["answers"]
    assert code == 0 and [(each["of"], each["question"]) for each in answers] == [
        ("tau1", "extreme"),
        ("tau1", "count"),
        ("tau1", "count"),
        ("tau2", "extreme"),
        ("tau2", "count"),
        ("tau2", "count"),
    ]
    words = every_word("narrow")[0]
    torques = small("narrow").formats.tau[0].dequantise(words)
    assert answers[0]["word"] == words.max() and answers[0]["answer"] == "exact"
    assert answers[2]["low"] == answers[2]["high"] == np.count_nonzero(torques >= 25)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--of", "b0", "--of", "G1", "--error", "--symmetry", "--support"),
        ("--of", "w0", "--largest", "--smallest", "--symmetry"),
        ("--of", "shoulder", "--error", "--at-most", "-10.5"),
    ],
)
def test_other_questions(ask, arguments):
    code, out, err = ask(*arguments)
    assert (code, err) == (0, "") and "exact" in out
    code, out, _ = ask(*arguments, "--json")
    assert code == 0 and all(each["answer"] == "exact" for each in json.loads(out)["answers"])


def test_equal_files_and_others(ask, file, tmp_path):
    code, out, _ = ask("--equal", file)
    assert code == 0 and out.count("yes") == 2
    small("direct").save(tmp_path / "direct.bdt")
    code, out, _ = ask("--equal", tmp_path / "direct.bdt", "--json")
    answers = json.loads(out)["answers"]
    assert code == 1 and [each["equal"] for each in answers] == [False, False]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--of", "tau7"), "unknown name 'tau7'"),
        (("--of", "b99"), "b0 to b"),
        (("--limit", "0"), "--limit must be above 0"),
        (("--limit", "nan"), "--limit must be above 0"),
        (("--work", "0"), "--work must be above 0"),
        (("--work", "nan"), "--work must be above 0"),
        (("--of", "b0", "--saturation"), "a question about an output"),
        (("--at-least", "inf"), "must be finite"),
        (("--equal", "nowhere.bdt"), "nowhere.bdt"),
    ],
)
def test_bad_use_is_one_line(ask, arguments, said):
    code, out, err = ask(*arguments)
    assert code == 2 and out == "" and err.count("\n") == 1 and said in err


@pytest.mark.parametrize(
    "options", [{"target": "integer"}, {"target": "integer", "source": "terms"}, {"target": "float"}], ids=str
)
@pytest.mark.parametrize(
    ("name", "kind"),
    [(inside, "words and blocks of the plan") for inside in ("w3", "b0")]
    + [(term, "terms of torques") for term in ("G1", "J12", "C1_12")],
)
def test_what_is_inside_a_model_that_multiplies_is_refused_by_name(name, kind, options):
    model = arm(4, **options)
    said = (
        f"ask: {name}: {kind}: 'planar2r' was compiled for a target that multiplies: it has no diagrams of all its "
        'steps: compile it with target = "tables" (--target tables)'
    )
    with pytest.raises(bt.BddTorqueError, match=re.escape(said)):
        largest(model, name)
    assert largest(model, "shoulder").value == largest(model, "tau1").value
    with pytest.raises(bt.BddTorqueError, match=r"names are tau1, tau2, shoulder, elbow$"):
        largest(model, "nonsense")


def test_a_term_of_another_source_is_refused_by_name():
    with pytest.raises(
        bt.BddTorqueError,
        match=r"ask: G1: terms of torques: 'planar2r' was not compiled from separate terms: .*--source",
    ):
        largest(arm(4, source="recursive"), "G1")


def test_conditions_are_said_in_plain_words(ask):
    _, out, _ = ask("--of", "tau1", "--saturation", "--within-limits")
    assert out.startswith("narrow.bdt: answers for every state within the limits of the joints\n")
    _, out, _ = ask("--of", "tau1", "--saturation", "--where", "qd=0")
    assert out.startswith("narrow.bdt: answers for every state with qd=0\n")
    assert "; over all states, the certificate" in out and "says can" in out  # in two lines of a column


def test_an_interruption_shows_what_was_found(ask, monkeypatch):
    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bddtorque.questions.asking.saturating", interrupted)
    code, out, err = ask()
    assert code == 130 and out.count(" largest ") == 1 and "interrupted" in err


@pytest.mark.parametrize("bits", [60, 1023, 1024, 1500])
def test_counts_of_any_size_are_shown(bits):
    def said(low, high, states=1 << bits):
        found = Count("tau1", "", False, "branch and bound", "", "saturate", low, high, states)
        (_, text, label, _), _ = answer_row(found)
        assert label == "bracket"
        return text

    assert said(5, 1 << (bits - 2)) == f"{5 / (1 << bits):.6g} to 0.25 of all 2^{bits} states, at least one"
    assert said(1 << (bits - 3), 1 << (bits - 2)) == f"0.125 to 0.25 of all 2^{bits} states"
    useless = f"not counted: only {5 / (1 << bits):.3g} to 0.75 of all 2^{bits} states is proved"
    assert said(5, 3 << (bits - 2)) == useless
    shown = f"{3 << (bits - 2):.6g}" if bits < 1024 else f"2^{bits - 2 + np.log2(3):.8g}"
    assert said(0, 1 << (bits - 4), 3 << (bits - 2)).endswith(f" of all {shown} states")
    assert said(5, 9, 1000) == "5 to 9 of 1,000 states, 0.005 to 0.009 of all"


def test_the_default_work_is_that_of_python():
    assert AskOptions().work == WORK


def test_little_work_is_told(ask):
    code, out, _ = ask("--json", "--of", "tau1", "--error", "--work", "0.1")
    (answer,) = json.loads(out)["answers"]
    assert code == 0 and answer["answer"] == "bracket" and answer["stopped"] == "work"


def test_the_bound_of_an_error_is_shown(ask):
    _, out, _ = ask("--error", "--of", "tau1")
    assert "at most" in out
