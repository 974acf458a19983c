"""`verify --gappa` as a command, and the script that it writes: what they accept, refuse and say."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bdt_files import signed, taken_apart
from compiled import compiled

import bddtorque as bt
from bddtorque.assurance import gappa_proof
from bddtorque.assurance.gappa_proof import prove_with_gappa
from bddtorque.cli import main
from bddtorque.model.model import to_bytes

pytestmark = pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")


def ran(script: Path, text: str | None = None, **options: Any) -> tuple[int, str]:
    """Run a script, with other text if given, and return its exit code and what it prints."""
    if text is not None:
        script.write_text(text)
    done = subprocess.run(["/bin/sh", str(script)], capture_output=True, text=True, check=False, **options)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_command_prints_both_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=12, target="integer").save(file)
    assert main(["verify", str(file), "--gappa"]) == 0
    shown = capsys.readouterr().out
    assert "0.6908 by Gappa, 0.6908 in the file" in shown
    assert " 1 table, " in shown and ", 1 pair of cosine and sine" in shown
    assert shown.endswith(f"{file}: bounds proved by Gappa (diagrams: `bddtorque verify {file}`)\n")
    assert main(["verify", str(file), "--gappa", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["verified"]
    assert [each["name"] for each in plain["gappa"]["outputs"]] == ["shoulder", "elbow"]
    assert plain["gappa"]["unchecked"] == ["diagrams"]


@pytest.mark.parametrize("target", ["float", "integer", "tables"])
def test_the_script_proves_all_again(target: str, tmp_path: Path) -> None:
    proof = prove_with_gappa(compiled("planar2r", bits=6, target=target))
    assert ran(tmp_path / "proof.sh", proof.script) == (0, f"{proof.lemmas} lemmas hold\n")


@cache
def script_of_planar2r() -> str:
    return prove_with_gappa(compiled("planar2r", bits=12, target="integer")).script


class TestScript:
    @pytest.fixture
    def whole(self) -> str:
        return script_of_planar2r()

    @pytest.mark.parametrize(
        ("pattern", "other", "said"),
        [
            (r"^(\{ \(a26 - t26\) in \[-57270261664475)739b", r"\g<1>738b", "sum_out1: neither a premise nor proved"),
            (r"^(/\\ a26 in \[-3784)3", r"\g<1>2", "sum_out1: neither a premise nor proved before: a26 in"),
            (r"^(#   a8 in \[-204)8", r"\g<1>7", "product_9: neither a premise nor proved before: a8 in"),
            (r"^(#   \(aout1 - tout1\) in \[-1)", r"\g<1>0", "claims: not proved: "),
            (r"^(t13 = .*) \* 1\);\n(?=t14)", r"\1 * 2);\n", "sum_15: t13 has two definitions"),
            (r"^(a9 = )\(a8", r"u2 = 1;\n\1(a8", "product_9: u2 is used before its definition"),
            (r"^(a9 = )\(a8", r"a10 = (a10 * 1);\n\1(a8", "product_9: a10 is used before its definition"),
            (r"^(\|.*\| -> sqrt\(.*)\);$", r"\1 * 1b-9);", "not of the form |x| -> sqrt(x * x)"),
            (r"^(\{ a8 in)", r"a8 >= 0 ->\n\1", "product_9: not part of a lemma"),
            (r"^prove sum_out2 .*(\n.*)*?\nEND\n", "", "claims: not proved: (aout2 - tout2) in"),
            (r"^prove product_9 .*(\n.*)*?\nEND\n", "", "sum_10: neither a premise nor proved before: a9 in"),
        ],
    )
    def test_lemmas_that_are_no_chain_fail(
        self, pattern: str, other: str, said: str, whole: str, tmp_path: Path
    ) -> None:
        """A hypothesis that nothing proves, two meanings of a name, a claim that no lemma concludes."""
        broken, count = re.subn(pattern, other, whole, flags=re.MULTILINE, count=1)
        assert count == 1
        code, shown = ran(tmp_path / "proof.sh", broken)
        assert code == 1 and said in shown and shown.count("\n") == 1

    def test_what_gappa_does_not_prove_fails(self, whole: str, tmp_path: Path) -> None:
        """A bound that is smaller wherever it stands: a chain, but not a proof."""
        (end,) = re.findall(r"^#   \(aout1 - tout1\) in \[-(1\d+)b", whole, re.MULTILINE)
        assert whole.count(end) == 2
        assert ran(tmp_path / "proof.sh", whole.replace(end, str(int(end) * 9 // 10))) == (1, "sum_out1 fails\n")

    def test_a_rewriting_that_is_no_identity_fails(self, whole: str, tmp_path: Path) -> None:
        broken = re.sub(r"^(a\d+ -> .*);$", r"\1 + 1b-60;", whole, count=1, flags=re.MULTILINE)
        code, shown = ran(tmp_path / "proof.sh", broken)
        assert code == 1 and "a rewriting is no identity" in shown  # of which Gappa itself only warns

    def test_a_missing_tool_is_no_failed_proof(self, whole: str, tmp_path: Path) -> None:
        for tool in ("gappa", "awk"):
            (tmp_path / tool).symlink_to(str(shutil.which(tool)))
        for tool in ("awk", "gappa"):
            (tmp_path / tool).unlink()
            code, shown = ran(tmp_path / "proof.sh", whole, env={"PATH": str(tmp_path)})
            assert (code, shown.count("\n")) == (2, 1) and shown.startswith(f"{tool} was not found on PATH")

    def test_a_script_from_standard_input_says_what_it_needs(self, whole: str) -> None:
        done = subprocess.run(["sh"], input=whole, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "run this script by its name: 'sh FILE'\n")

    def test_names_are_only_comments(self, tmp_path: Path) -> None:
        robot = bt.load_robot("planar2r")
        joints = [replace(joint, name=f"END\n'{joint.name}; exit 5 \\") for joint in robot.joints]
        odd = replace(robot, name="x'\nexit 3\n#   a0 in [0, 0]", joints=joints)
        proof = prove_with_gappa(bt.compile(odd, bits=4, target="integer", workers=1, cache=None))
        assert ran(tmp_path / "proof.sh", proof.script) == (0, f"{proof.lemmas} lemmas hold\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"high": 100.0}, "shoulder: high must be "),
        ({"lsb": 0.05}, "the certificate must be of the robot's words"),
        ({"unit": "N"}, "the certificate must be of the robot's words"),
        (
            {"saturation": "not excluded"},
            "FAIL  certificate   shoulder: saturation must be 'cannot', got 'not excluded'",
        ),
        ({"parts": "moved"}, "FAIL  certificate   shoulder: parts, constants must be "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_false_field_of_a_certificate_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also one that leaves the bound in units as it is."""
    file, model = tmp_path / "arm.bdt", compiled("planar2r", bits=6, target="integer")
    first, *rest = model.certificate.outputs
    if "parts" in change:
        parts = first.parts
        change = {"parts": replace(parts, constants=parts.constants + 0.25, sums=parts.sums - 0.25)}
    false = replace(model.certificate, outputs=(replace(first, **change), *rest))
    file.write_bytes(to_bytes(replace(model, certificate=false)))
    assert main(["verify", str(file), "--gappa"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL" in shown and said in shown and shown.endswith("NOT verified\n")


def test_the_command_says_how_many_sines_were_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=12, target="float").save(file)
    assert main(["verify", str(file), "--gappa"]) == 0
    shown = capsys.readouterr().out
    assert "  floats of 2,050 sines and cosines compared\n" in shown  # a quarter of a turn of each, and its end
    assert ", 8 facts on sines and cosines, " in shown
    assert shown.endswith(f"{file}: bounds proved by Gappa\n")  # there are no diagrams


def test_files_are_written_or_said_not_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled("planar2r", bits=3).save("arm.bdt")
    command = ["verify", "arm.bdt", "--gappa", "--gappa-script", "proof.sh", "--coq", "arm.v"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gappa"]["written"] == ["proof.sh", "arm.v"]
    before = Path("proof.sh").read_text(), Path("arm.v").read_text()
    assert all(before)
    Path("arm.bdt").write_bytes(Path("arm.bdt").read_bytes()[:-100])
    assert main(command) == 1
    *_, script, theorem, verdict = capsys.readouterr().out.splitlines()
    assert script == "proof.sh: not written, as the proof failed"
    assert theorem == "arm.v: not written, as the proof failed"
    assert verdict == "arm.bdt: NOT verified"
    assert before == (Path("proof.sh").read_text(), Path("arm.v").read_text())


@pytest.mark.parametrize("damage", ["truncated", "empty", "text", "byte", "sum"])
def test_a_damaged_file_is_a_failed_check(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As without --gappa: exit code 1, and JSON."""
    file, model = tmp_path / "arm.bdt", compiled("planar2r", bits=3)
    data = to_bytes(model)
    header, arrays = taken_apart(data)
    header["certificate"]["outputs"][0]["bound"] /= 2  # not the sum of its parts
    flipped = bytes([*data[: len(data) // 2], data[len(data) // 2] ^ 1, *data[len(data) // 2 + 1 :]])
    kinds = {
        "truncated": data[:1000],
        "empty": b"",
        "text": b"no model\n",
        "byte": flipped,
        "sum": signed(header, arrays),
    }
    file.write_bytes(kinds[damage])
    for flags in ([], ["--gappa"]):
        assert main(["verify", str(file), *flags]) == 1
        shown = capsys.readouterr().out
        assert shown.startswith("FAIL  file  ") and shown.endswith("NOT verified\n")
    assert main(["verify", str(file), "--gappa", "--json"]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert not plain["verified"] and [check["name"] for check in plain["checks"]] == ["file"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("#!/bin/sh\nexit 127\n", "'gappa --version' has exit code 127 and prints ''"),
        ("#!/bin/sh\necho Hello\n", "'gappa --version' has exit code 0 and prints 'Hello\\n'"),
        ("\x7fELF", "Exec format error"),
        ('#!/bin/sh\n[ "$1" = --version ] && echo Gappa 1.4 || exit 126\n', "it ended with exit code 126 on lemma "),
    ],
    ids=["127", "other", "format", "later"],
)
def test_a_broken_gappa_is_not_blamed_on_the_model(
    program: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tool = tmp_path / "arm.bdt", tmp_path / "gappa"
    compiled("planar2r", bits=3).save(file)
    tool.write_text(program)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["verify", str(file), "--gappa"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert f"{tool} is not a working Gappa ({said}" in shown.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "bddtorque: --coq must name a file, got an empty name or the current folder\n"),
        ("x" * 300, f"bddtorque: --coq: '{'x' * 100}' cannot be written: File name too long\n"),
        ("/proc/arm.v", "bddtorque: --coq: '/proc/arm.v' cannot be written: No such file or directory\n"),
    ],
    ids=["empty", "long", "unwritable"],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_proof(
    name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled("planar2r", bits=3).save("arm.bdt")
    monkeypatch.setattr(gappa_proof, "prove_with_gappa", lambda *_: pytest.fail("work was begun"))
    assert main(["verify", "arm.bdt", "--gappa", "--coq", name]) == 2
    assert capsys.readouterr().err == said
    assert [path.name for path in tmp_path.iterdir()] == ["arm.bdt"]


def test_bad_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "arm.bdt"
    compiled("planar2r", bits=3).save(file)
    assert main(["verify", str(file), "--gappa", "--independent"]) == 2
    assert "cannot be given with --gappa" in capsys.readouterr().err
    assert main(["verify", str(file), "--gappa-script", str(tmp_path / "x")]) == 2
    assert "only valid with --gappa" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["verify", str(file), "--gappa"]) == 2
    assert capsys.readouterr().err.strip().splitlines() == [
        "bddtorque: Gappa was not found on PATH: install it, on Debian and Ubuntu by 'apt install gappa'"
    ]
