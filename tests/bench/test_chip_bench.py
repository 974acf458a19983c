"""`bench --chip`: our cycles beside soft float and tuned fixed point, on emulated chips; the words are the model's."""

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from chip_tools import needs
from compiled import arm, random_words

import bddtorque as bt
from bddtorque.bench import chip_bench, emulation
from bddtorque.bench.chip_bench import ChipFigures, bench_chips, recommendations, true_units
from bddtorque.bench.emulation import measure
from bddtorque.bench.kernel_loops import random_states
from bddtorque.cli import main
from bddtorque.spec.chips import chips

CHIPS = ["avr", "cortex-m0", "cortex-m4", "rv32imc"]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.everything)])
def test_integer_plans_give_the_words_of_the_evaluator(chip, count, tmp_path):
    needs(chip)
    model = arm(12, target="integer", chip=chip)
    words = random_words(model, count)
    bt.export_c(model, tmp_path / "c", vectors=1, io=16)
    found = measure(tmp_path / "c", chip, np.concatenate(words, axis=1), ("-O2",))
    assert np.array_equal(found.words, model.torque_words(*words))
    assert found.ram == 0


def test_the_baselines_stand_beside_the_model(monkeypatch):
    needs("cortex-m0")
    monkeypatch.setattr(chip_bench, "TRIED", 2_000)
    monkeypatch.setattr(chip_bench, "COARSER", (2.0,))
    monkeypatch.setattr(chip_bench, "LEVELS", ("-Os",))
    own, tuned, floats = bench_chips(arm(8, target="integer", chip="cortex-m0"), ["cortex-m0"], 20, seed=0)
    assert [each.way for each in (own, tuned, floats)] == ["bddtorque", "X", "F"]
    assert own.error <= own.bound < 1.0 and tuned.bound is floats.bound is None
    assert tuned.error < 1.0 and floats.error < 0.51
    assert 10 * own.mean < floats.mean and own.lowest <= own.mean <= own.highest
    assert own.ram == tuned.ram == floats.ram == 0 and own.flash < floats.flash
    json.dumps(own.to_plain())


def test_tables_are_measured_where_nothing_multiplies(monkeypatch):
    """Both targets beside each other, proved alike, whichever the model is; and what to take."""
    chip = "cortex-m0-slow-multiply"
    needs(chip)
    monkeypatch.setattr(chip_bench, "LEVELS", ("-Os",))
    monkeypatch.setattr(chip_bench, "BLOCK_BITS", (8,))
    integers = arm(6, target="integer", chip=chip)
    assert any("has no fast multiplier" in note for note in integers.report["notes"])
    own, tables = islice(bench_chips(integers, [chip], 10, seed=0), 2)  # X and F are tried elsewhere
    assert (own.way, tables.way) == ("bddtorque", "tables")
    assert tables.options == "--target tables --block-bits 8" and tables.error <= tables.bound < 1.0
    (advice,) = recommendations((integers, each) for each in (own, tables)).values()
    better = tables if tables.mean < own.mean else own
    assert f": {better.mean:,.0f} cycles and {better.flash:,} bytes (" in advice
    _, other = islice(bench_chips(arm(6, workers=1), [chip], 10, seed=0), 2)
    assert other.options == f"--target integer --chip {chip}" and other.error <= other.bound < 1.0


def test_what_is_recommended():
    """The faster one; what is left if the other cannot be had; floats where these are faster."""
    model = arm(6, workers=1)
    own, slow = ChipFigures("attiny", "bddtorque", mean=900.0), ChipFigures("attiny", "integer", mean=1000.0)
    gone = ChipFigures("attiny", "integer", problem="too large")

    def advice(*found):
        return recommendations((model, each) for each in found)

    assert advice(own, slow)["attiny"].startswith("keep --target tables: 900 cycles")
    better = replace(slow, mean=800.0, options="--target integer --chip attiny")
    assert advice(own, better)["attiny"].startswith("use --target integer --chip attiny: 800 cycles")
    assert advice(own, gone)["attiny"] == "keep --target tables: 900 cycles and 0 bytes (integer: too large)"
    assert advice(replace(own, problem="too"), better)["attiny"].startswith("use --target integer")
    assert advice(replace(own, problem="too"), gone)["attiny"].startswith("neither tables nor integers")
    floats = ChipFigures("cortex-m4f", "F", mean=700.0)
    assert advice(replace(own, chip="cortex-m4f"), floats)["cortex-m4f"].startswith("use --target float: 700 cycles")
    assert advice(own, replace(floats, chip="attiny", mean=950.0)) == {}
    assert advice(own, better, replace(floats, chip="attiny", mean=850.0))["attiny"].startswith("use --target integer")


@pytest.mark.parametrize("bits", [4, pytest.param(8, marks=pytest.mark.everything)])
def test_compile_says_which_target_a_chip_without_a_multiplier_wants(bits, tmp_path, capsys):
    needs("attiny")
    asked = ["compile", "planar2r", "--bits", str(bits), "--target", "integer", "--chip", "attiny", "--json"]
    assert main([*asked, "-o", str(tmp_path / "arm.bdt")]) == 0
    (said,) = [note for note in json.loads(capsys.readouterr().out)["report"]["notes"] if "multiplier" in note]
    assert "measured under emulation: " in said and "bench" not in said
    found = list(islice(bench_chips(bt.load(tmp_path / "arm.bdt"), ["attiny"], chip_bench.STATES, seed=0), 2))
    better, other = sorted(found, key=lambda each: each.mean)
    assert f": {better.mean:,.0f} cycles and {better.flash:,} bytes" in said
    assert f" {other.mean:,.0f} cycles and {other.flash:,} bytes" in said


def test_compile_names_the_command_where_nothing_can_be_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(emulation, "missing_tools", lambda chip: f"chip '{chip}' needs avr-gcc")
    asked = ["compile", "planar2r", "--bits", "4", "--target", "integer", "--chip", "attiny", "--json"]
    assert main([*asked, "-o", str(tmp_path / "arm.bdt")]) == 0
    notes = json.loads(capsys.readouterr().out)["report"]["notes"]
    assert any("`bddtorque bench FILE --chip attiny` measures both" in note for note in notes)


def test_true_units_are_what_the_words_are_compared_with():
    model = arm(6, workers=1)
    words = random_states(model, 500, seed=0)
    error = np.abs(model.evaluator().output_words(**words) - true_units(model, words)).max()
    assert 0.3 < error <= max(model.certificate.bounds)


def test_missing_tools_are_named(monkeypatch, tmp_path, capsys):
    file = tmp_path / "arm.bdt"
    arm(6, workers=1).save(file)
    assert main(["bench", str(file), "--chip", "cortex-m9"]) == 2
    assert "chip must be 'cortex-m0'" in (said := capsys.readouterr().err) and "did you mean 'cortex-m" in said
    monkeypatch.setattr(chip_bench, "missing_tools", lambda chip: f"chip '{chip.name}' needs avr-gcc")
    assert main(["bench", str(file), "--chip", "avr,attiny"]) == 2
    assert "chip 'avr' needs avr-gcc; chip 'attiny' needs avr-gcc" in capsys.readouterr().err


def test_every_chip_has_a_line_in_the_manual(pytestconfig):
    page = (pytestconfig.rootpath / "docs/chips.md").read_text()
    assert all(f"`{name}`" in page for name in chips())
