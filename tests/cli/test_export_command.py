"""`export` on the command line."""

import json
import shutil
import subprocess

import pytest

import bddtorque as bt
from bddtorque.export.logic import blif_text

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) on this machine")


@needs_compiler
def test_export_writes_a_folder_that_checks_itself(run, model_file, tmp_path):
    folder = tmp_path / "c"
    ran = run("export", model_file, "--c", folder, "--floats", "--vectors", 40)
    assert (ran.code, ran.err) == (0, "")
    for part in (
        "planar2r_torque_words",
        "ROM",
        "RAM       0 bytes",
        "stack",
        "cc -std=gnu99",
        "make check",
    ):
        assert part in ran.out
    done = subprocess.run(["make", "-s", "check"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "OK: 40 states\n", "")
    again = run("export", model_file, "--c", folder, "--vectors", 40)
    assert again.code == 0
    assert not (folder / "planar2r_float.c").exists()


def test_one_term(run, model_file, tmp_path):
    ran = run("export", model_file, "--c", tmp_path / "c", "--term", "C1_22", "--form", "ifs", "--json")
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    assert told["function"] == told["prefix"] == "planar2r_c1_22"
    assert isinstance(told["bound"], float) and set(told["forms"].values()) == {"ifs"}
    assert (tmp_path / "c" / "planar2r_c1_22.h").exists()


def test_export_as_json(run, model_file, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    flags = ["--form", "edge_valued", "--name", "Arm2"]
    ran = run("export", model_file, "--c", tmp_path / "c", *flags, "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["prefix"] == "Arm2"
    assert set(told["files"]) == {path.name for path in (tmp_path / "c").iterdir()}
    assert {name: (tmp_path / "c" / name).stat().st_size for name in told["files"]} == told["files"]
    assert set(told["forms"].values()) == {"edge_valued"}
    assert told["measured"] == {"reason": "no C compiler found"}
    assert told["bound"] == list(bt.load(model_file).certificate.bounds)
    assert not told["constant_sequence"]
    shown = run("export", model_file, "--c", tmp_path / "c", *flags)
    assert "nothing: no C compiler found" in shown.out
    assert "walks end sooner" in shown.out


def test_export_of_logic(run, refused, model, model_file, tmp_path):
    folder, netlist = tmp_path / "pla", tmp_path / "arm.blif"
    told = json.loads(run("export", model_file, "--pla", folder, "--blif", netlist, "--json").out)
    assert told["blif"] == f"{netlist}, {netlist.stat().st_size:,} bytes"
    assert told["pla"] == f"{len(model.tables)} tables in {folder}"
    assert netlist.read_text() == blif_text(model)
    assert "b0.pla" in {path.name for path in folder.iterdir()}
    assert str(netlist) in "".join(run("export", model_file, "--blif", netlist).out.split())
    assert "there is no folder" in refused("export", model_file, "--blif", tmp_path / "no" / "arm.blif")
    assert "--blif" in refused("export", model_file, "--blif", model_file)


def test_bad_use(refused, model_file, tmp_path):
    folder = tmp_path / "c"
    assert "export needs --c DIR" in refused("export", model_file)
    assert "--form must be 'chosen', 'dense'" in refused("export", model_file, "--c", folder, "--form", "best")
    assert "--name must be up to 40 letters" in refused("export", model_file, "--c", folder, "--name", "2r")
    assert "smallest forms" in refused("export", model_file, "--c", folder, "--flash", "1 kB")
    assert "unknown option '--memory'" in refused("export", model_file, "--c", folder, "--memory", "1 kB")
    assert "--form can only be given with --c DIR" in refused("export", model_file, "--pla", folder, "--form", "bits")
    assert "--vectors must be between 1 and" in refused("export", model_file, "--c", folder, "--vectors", "0")
    assert "that is installed" in refused("export", model_file, "--c", folder, "--cc", "no-such-cc")
    assert "none.bdt" in refused("export", tmp_path / "none.bdt", "--c", folder)
    assert "there is no" in refused("export", model_file, "--c", folder / "deep" / "er")
    assert not folder.exists()
    folder.mkdir()
    (folder / "main.c").write_text("mine")
    assert "--force" in refused("export", model_file, "--c", folder)
    assert (folder / "main.c").read_text() == "mine"


def test_force_keeps_other_files(run, model_file, tmp_path):
    (tmp_path / "main.c").write_text("mine")
    assert run("export", model_file, "--c", tmp_path, "--force").code == 0
    assert (tmp_path / "main.c").read_text() == "mine"
    assert (tmp_path / "planar2r.c").is_file()
