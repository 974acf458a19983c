"""`report` on the command line."""

from dataclasses import replace
from pathlib import Path

import pytest
from report_pages import compiled, read

from bddtorque.cli import main


@pytest.fixture
def model_file(tmp_path) -> Path:
    path = tmp_path / "small.bdt"
    compiled("planar2r").save(path)
    return path


def refused(capsys, *arguments) -> str:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("bddtorque: ")
    assert err.count("\n") == 1
    return err


def test_report_writes_a_page_beside_one(model_file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(model_file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "small.html" in out
    assert "computed in the page from" in out
    page = tmp_path / "small.html"
    assert f"{page.stat().st_size:,} bytes" in out
    assert read(page.read_bytes()).root.all("h1")[0].text == "planar2r"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["small.bdt", "small.html"]


def test_bad_use(model_file, tmp_path, capsys):
    before = model_file.read_bytes()
    assert f"-o would overwrite {model_file}, which this command reads" in refused(
        capsys, "report", model_file, "-o", model_file
    )
    assert ".bdt is for models" in refused(capsys, "report", model_file, "-o", tmp_path / "other.bdt")
    assert "there is no folder" in refused(capsys, "report", model_file, "-o", tmp_path / "no" / "page.html")
    assert "is a folder" in refused(capsys, "report", model_file, "-o", tmp_path)
    assert "missing.bdt" in refused(capsys, "report", tmp_path / "missing.bdt", "-o", tmp_path / "page.html")
    broken = tmp_path / "broken.bdt"
    broken.write_bytes(before[:-7])
    assert "broken.bdt" in refused(capsys, "report", broken, "-o", tmp_path / "page.html")
    assert model_file.read_bytes() == before
    assert not (tmp_path / "page.html").exists()


def test_more_found_than_proved_is_said(tmp_path, capsys):
    model = compiled("planar2r")
    first, second = model.certificate.torques
    claimed = replace(first, parts=replace(first.parts, tables=0.0, sums=0.0, final_rounding=0.01))
    replace(model, certificate=replace(model.certificate, outputs=(claimed, second))).save(tmp_path / "claimed.bdt")
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "claimed.bdt"), "-o", str(page)]) == 1
    assert "errors beyond the proved bound were found for shoulder\n" in capsys.readouterr().err
    assert page.exists()
