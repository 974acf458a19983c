"""One term as C: the model's words, true within what its header says, and the sum of all terms is the torque."""

import itertools
import re
import subprocess

import numpy as np
import pytest
from c_programs import SANITIZERS, WARNINGS, needs_compiler
from compiled import arm, compiled

import bddtorque as bt
from bddtorque.cli import main
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_term import TermFunction
from bddtorque.plan.reference import run_plan
from bddtorque.sweeps.term_errors import term_summands

PLANAR = {
    "J11": lambda q, qd, qdd: (15.75 + 10 * np.cos(q[1])) * qdd[0],
    "C1_22": lambda q, qd, qdd: -5 * np.sin(q[1]) * qd[1] ** 2,
    "G2": lambda q, qd, qdd: 5 * 9.81 * np.cos(q[0] + q[1]),
    "J22": lambda q, qd, qdd: 9 * qdd[1],
}
"""Terms of planar2r, as the Boolean paper prints them."""


@needs_compiler
@pytest.mark.parametrize("options", [{"accuracy": "paper"}, {"block_bits": 6}], ids=str)
@pytest.mark.parametrize("form", ["chosen", "ifs"])
def test_the_self_test_of_a_term(options, form, tmp_path):
    model = arm(4, workers=1, **options)
    for term in ("C1_12", "G1") if form == "chosen" else ("G1",):
        folder = tmp_path / term
        bt.export_c(model, folder, term=term, form=form)
        command = f"CFLAGS='{' '.join([*WARNINGS, *SANITIZERS])}' make -s check"
        ran = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (0, "OK: 256 vectors\n"), ran.stderr


@pytest.mark.parametrize("name", PLANAR)
@pytest.mark.parametrize("options", [{"accuracy": "paper"}, {}], ids=str)
def test_every_word_is_within_the_bound_that_the_header_states(name, options):
    model = arm(4, workers=1, **options)
    term = TermFunction.of(model, name)
    header = next(text for file, text in c_files(model, term=name).files.items() if file.endswith(".h"))
    lsb, bound = (float(re.search(rf"_{what} (\S+)", header)[1]) for what in ("LSB", "BOUND"))
    words = np.array(list(itertools.product(*(range(word.lowest, word.highest + 1) for word in term.formats))))
    zero = np.zeros(len(words), np.int64)
    named = dict.fromkeys(model.formats.words, zero)
    named |= dict(zip(term.inputs.values(), words.T, strict=True))
    found = run_plan(term.plan, model.tables, named)[0] * lsb
    state = [np.stack([model.formats.words[f"{kind}{j}"].dequantise(named[f"{kind}{j}"]) for j in (1, 2)]) for kind in
             ("q", "qd", "qdd")]  # fmt: skip
    error = np.abs(found - PLANAR[name](*state)).max() / abs(lsb)
    assert error <= bound
    assert bound < 6 * error  # and is no empty promise


def test_the_terms_of_a_torque_add_up_to_it():
    model = arm(4, workers=1, accuracy="paper")
    rng = np.random.default_rng(1)
    named = {name: rng.integers(word.lowest, word.highest, 500) for name, word in model.formats.words.items()}
    tau = run_plan(model.plan, model.tables, named)
    for joint, output in enumerate(model.plan.outputs):
        terms = [TermFunction.of(model, each.name) for each in term_summands(model) if each.torque == joint]
        assert all(term.output.shift == 0 for term in terms)
        total = sum(run_plan(term.plan, model.tables, named)[0] for term in terms)
        rounded = (total + (1 << output.shift >> 1)) >> output.shift
        assert np.array_equal(np.clip(rounded, output.low, output.high), tau[joint])


def test_a_term_has_its_own_words_and_no_others():
    files = c_files(arm(4, workers=1, accuracy="paper"), term="C1_22", form="ifs").files
    assert "int16_t planar2r_c1_22(int16_t q2, int16_t qd2);" in files["planar2r_c1_22.h"]
    assert files["planar2r_c1_22.c"].count("static int32_t block_") == 1
    assert "clamped" not in files["planar2r_c1_22.c"]


def test_the_words_of_a_term_add_up_to_it():
    """The gravity of the shoulder is two words, as in the Boolean paper."""
    model = arm(4, workers=1, accuracy="paper")
    whole, *parts = (TermFunction.of(model, name) for name in ("G1", "G1.1", "G1.2"))
    columns, words = whole.vectors(64)
    named = {**dict.fromkeys(model.formats.words, 0), **dict(zip(whole.inputs.values(), columns, strict=True))}
    assert [list(part.inputs.values()) for part in parts] == [["q1"], ["q1", "q2"]]
    assert np.array_equal(sum(run_plan(part.plan, model.tables, named)[0] for part in parts), words)
    assert "planar2r_g1_2.h" in c_files(model, term="G1.2").files


def test_the_bound_of_a_term_is_stated_in_its_unit(tmp_path, capsys):
    model = arm(4, workers=1, accuracy="paper")
    model.save(tmp_path / "arm.bdt")
    term = TermFunction.of(model, "C1_22")
    exported = bt.export_c(model, tmp_path / "c", term="C1_22")
    assert (exported.bound_si, exported.unit) == (term.bound * abs(float(term.output.lsb)), "N·m")
    for flags in ["--c"], ["--one-bit", "--vectors", "2", "--verilog"]:
        assert main(["export", str(tmp_path / "arm.bdt"), "--term", "C1_22", *flags, str(tmp_path / flags[0])]) == 0
        assert f"{exported.bound_si:.4g} N·m at most" in capsys.readouterr().out


def test_what_is_refused():
    model = arm(4, workers=1, accuracy="paper")
    with pytest.raises(bt.BddTorqueError) as refused:
        c_files(model, term="C1_21")
    assert str(refused.value) == "unknown term 'C1_21' among the 9 terms of 'planar2r'; did you mean 'C1_22'?"
    with pytest.raises(bt.BddTorqueError, match=r"term G1 is the sum of 2 words, G1\.1 to G1\.2, got 'G1\.3'"):
        c_files(model, term="G1.3")
    with pytest.raises(bt.BddTorqueError, match="floats is only valid for a whole model, not for one term"):
        c_files(model, term="G1", floats=True)
    with pytest.raises(
        bt.BddTorqueError, match="a term alone: terms of torques: 'planar2r' was not compiled from separate terms"
    ):
        c_files(compiled("planar2r", bits=6, source="recursive"), term="G1")
