"""Exported C that is changed where no wire shows it, or of another model or chip, is refused, in one line."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled

import bddtorque as bt
from bddtorque.assurance.c_equivalence import prove_c
from bddtorque.assurance.c_tables import check_tables

pytest.importorskip("bitwuzla")
pytest.importorskip("pycparser")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

MANIFEST = "bddtorque-export.json"
W10 = r"const int32_t w10 = (floor32\([^;]*);"
BEFORE_W0 = r"(?=    const uint32_t w0 =)"
LAST = r"(?=    return outside;\n\}\n$)"


@pytest.fixture(scope="module")
def arm() -> bt.Model:
    return compiled("planar2r", bits=12, target="integer")


@pytest.fixture(scope="module")
def exported(arm: bt.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "arm"
    bt.export_c(arm, folder)
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    """A copy of the exported C, to be changed."""
    return Path(shutil.copytree(exported, tmp_path / "arm"))


def change(folder: Path, old: str, new: str, file: str = "planar2r.c") -> None:
    """Replace what a regular expression matches first in a file."""
    text = (folder / file).read_text()
    changed = re.sub(old, new, text, count=1, flags=re.DOTALL)
    assert changed != text, old
    (folder / file).write_text(changed)


def test_unchanged(arm: bt.Model, exported: Path) -> None:
    assert all(wire.proved for wire in prove_c(arm, exported))
    assert check_tables(arm, exported) == []


NOT_THE_EXPORTERS = {
    "directive": ("planar2r.c", r"(tau\[1\] = [^;]*;)", r"\n#if 0\n\1\n#endif\n", "'#' is not understood"),
    "spliced comment": ("planar2r.c", r"(tau\[1\] = [^;]*;)", "/* *\\\\\n/ \\1 /* */", "not understood"),
    "line comment": ("planar2r.c", BEFORE_W0, "    // a comment\n", "'//' is not understood"),
    "macro in the C file": ("planar2r.c", r"(?=/\* The number)", "#define UINT32_C(x) 0u\n", "line 20: "),
    "macro in the header": (
        "planar2r.h", "(?=#define PLANAR2R_JOINTS)", "#undef UINT32_C\n#define UINT32_C(x) 7u\n", "line 17: must be"
    ),
    "empty header": ("planar2r.h", ".*", "", "line 1: must be"),
    "digest": ("planar2r.h", '_DIGEST "....', '_DIGEST "beef', "line 18: must be '#define PLANAR2R_DIGEST"),
    "unit": ("planar2r.h", r"_LSB 0\.", "_LSB 1.", "line 29: must be"),
    "bits above an index": (
        "planar2r.c", r"(words\[index & 4095u\]);", r"\1 + ((index >> 12u) != 0u);", "must be '    return"
    ),
    "mask of an index": ("planar2r.c", "index & 4095u", "index", "must be '    return"),
    "type of a table's words": ("planar2r.c", "ROM int16_t", "ROM int8_t", "must be 'static const"),
    "table of terms": ("planar2r.c", r"(4096\] = \{\n    )", r"\1(1 + 1), ", "line 59: a table must hold integers"),
    "helper with another type": ("planar2r.c", r"floor32\(uint32_t bits", "floor32(uint64_t bits", "must be"),
    "truncated": ("planar2r.c", r"    tau\[1\] = .*", "", "line 399: must be '}'.*found 'the end of the file'"),
    "another byte": ("planar2r.c", "complement", "compl\u00e9ment", "must be ASCII"),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_THE_EXPORTERS)
def test_what_is_not_proved_is_the_exporters(case: str, arm: bt.Model, folder: Path) -> None:
    file, old, new, said = NOT_THE_EXPORTERS[case]
    change(folder, old, new, file)
    for check in (prove_c, check_tables):
        with pytest.raises(bt.BddTorqueError, match=said):
            check(arm, folder)  # type: ignore[operator]


REFUSED = {
    "return in a loop": (BEFORE_W0, "uint32_t k; for (k = 0u; k < 1u; k++) { return outside; }\n", "a return inside"),
    "inner variable": (
        W10, r"int32_t s = 0; uint32_t k; for (k = 0u; k < 1u; k++) { int32_t s = \1; } const int32_t w10 = s;",
        "a second variable 's'",
    ),
    "added to an output": (r"tau\[0\] =", "tau[0] +=", r"an assignment by '\+='"),
    "taken from an output": (r"tau\[0\] =", "tau[0] -=", "an assignment by '-='"),
    "increment of an output": (LAST, "    tau[0]++;\n", "kind UnaryOp"),
    "output by a helper": (r"tau\[0\] = [^;]*;", "(void)clamp_words(&qd[0], &tau[0], 1u, 12u);", "is not written"),
    "output by a pointer": (r"tau\[0\] =", "int32_t *out = tau; out[0] =", "tau.0. is not written"),
    "helper that may not be called": (
        LAST, "    outside += (w3 != 0u) ? clamp_words(&qd[0], &tau[0], 1u, 12u) : 0;\n", "a statement of its own"
    ),
    "word behind a pointer": (BEFORE_W0, "    held_qd[0] = 5;\n", "after a pointer was set"),
    "word behind a pointer, perhaps": (BEFORE_W0, "    if (outside) { held_qd[0] = 5; }\n", "after a pointer was set"),
    "state": (LAST, "    static int32_t calls = 0;\n", "variable 'calls' must be plain or const"),
    "function in a function": (LAST, "return 0; } int other(void) {\n", "found more definitions"),
    "no value": (W10, "int32_t s; const int32_t w10 = s;", r"kind ID \('s'\)"),
    "array with values": (r"held_qd\[2\];", "held_qd[2] = {1, 2};", "a constant size up to 4096, and no values"),
    "octal": ("20091u", "02003u", "line 388: the constant 02003u is not understood"),
    "long constant": ("20091u", "20091ul", "line 388: the constant 20091ul is not understood"),
    "constant of more bits": (r"UINT32_C\(548864\)", "UINT32_C(5488640000)", "fits 32 bits"),
    "long": ("const int32_t w10", "const unsigned long w10", "line 388: the type 'unsigned long'"),
    "no braces": (BEFORE_W0, "    if (outside) outside = 1;\n", "line 376: a statement without braces"),
    "no arguments": (r"block_0\(w1\)", "block_0()", "'block_0' takes 1 arguments, found 0"),
    "no such wire": (LAST, "    const int32_t w99 = 1;\n", "the plan has 27 wires"),
    "pointer to nothing": (r"\*given_qd = qd;", "*given_qd;", "line 366: a pointer"),
    "no semicolon": (r"(w10 = [^;]*);", r"\1", "line 389: .*not the C that export_c writes"),
    "recursion": (r"return \(int32_t\)bits;", "return signed32(bits);", "line 21: function 'signed32' calls itself"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_exporter_never_writes_is_refused(case: str, arm: bt.Model, folder: Path) -> None:
    old, new, said = REFUSED[case]
    change(folder, old, new)
    with pytest.raises(bt.BddTorqueError, match=said) as caught:
        prove_c(arm, folder)
    assert "\\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (W10, r"int8_t s; s = \1; const int32_t w10 = (int32_t)s;"),
        (W10, r"uint8_t s = 255u; s++; const int32_t w10 = \1 + s - 256;"),
        (W10, r"int32_t s = 0; uint32_t k; for (k = 0u; k < 1u; k++) { int32_t t = \1; } const int32_t w10 = s;"),
        (r"block_0\(w1\)", "block_0((uint8_t)w1)"),
    ],
)
def test_types_and_blocks_are_those_of_c(old: str, new: str, arm: bt.Model, folder: Path) -> None:
    change(folder, old, new)
    assert [wire.name for wire in prove_c(arm, folder) if not wire.proved] == ["w2" if "block_0" in old else "w10"]


def test_an_int_is_that_of_the_chip_in_the_manifest(tmp_path: Path) -> None:
    """A product in an `int` overflows where that has 16 bits; nobody has to name the chip again."""
    model = compiled("planar2r", bits=13, target="integer")
    bt.export_c(model, tmp_path, chip="avr")
    assert all(wire.proved for wire in prove_c(model, tmp_path, chip="avr"))
    with pytest.raises(bt.BddTorqueError, match=r"chip must be 'avr', for which .* was exported, got 'generic32'"):
        prove_c(model, tmp_path, chip="generic32")
    change(tmp_path, r"= \(int32_t\)a \* b;", "= (int32_t)(a * b);")
    assert not all(wire.proved for wire in prove_c(model, tmp_path))


def test_helpers_that_call_one_another(tmp_path: Path) -> None:
    """The exporter writes none; what the solver cannot read is not proved."""
    model = compiled("planar2r", bits=6, target="integer", chip="avr")
    bt.export_c(model, tmp_path)
    change(tmp_path, r"\(uint16_t\)\(bits >> 16u\)", "(uint16_t)signed32(bits >> 16u)")
    assert not all(wire.proved for wire in prove_c(model, tmp_path))


def test_the_export_of_another_model_is_refused(arm: bt.Model, folder: Path, tmp_path: Path) -> None:
    floats = compiled("planar2r", bits=12, target="float")
    other = compiled("planar2r", bits=6, target="integer")
    bt.export_c(floats, tmp_path / "floats")
    for check in (prove_c, check_tables):
        for model, place, said in (
            (other, folder, "must be exported from this model"),
            (arm, tmp_path / "floats", "must be exported from this model"),
            (floats, tmp_path / "floats", "computes in floats"),
            ("arm.bdt", folder, "model must be a Model, .* got str"),
            (None, folder, "model must be a Model, .* got NoneType"),
            (arm, None, "folder must be a path, got NoneType"),
            (arm, tmp_path / "nowhere", f"{MANIFEST}: cannot be read"),
        ):
            with pytest.raises(bt.BddTorqueError, match=said):
                check(model, place)  # type: ignore[operator]


@pytest.mark.parametrize("file", ["planar2r.c", "planar2r.h", MANIFEST])
def test_missing_files(file: str, arm: bt.Model, folder: Path) -> None:
    (folder / file).unlink()
    for check in (prove_c, check_tables):
        with pytest.raises(bt.BddTorqueError, match=f"{file}: cannot be read"):
            check(arm, folder)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("options", None, "must have the keys"), ("options", {}, "must have the keys"), ("io", 16, r"\.h, line"),
     ("io", "32", "must have the keys"), ("chip", "avr", r"\.c, line"), ("name", "../arm", "name must be")],
)  # fmt: skip
def test_manifests(key: str, value: Any, said: str, arm: bt.Model, folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (manifest if key in manifest else manifest["options"])[key] = value
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(bt.BddTorqueError, match=said):
        prove_c(arm, folder)


def test_a_term_is_refused(tmp_path: Path) -> None:
    model = compiled("planar2r", bits=6, target="tables", source="terms")
    bt.export_c(model, tmp_path, term="G1")
    assert check_tables(model, tmp_path) == []
    with pytest.raises(bt.BddTorqueError, match="holds the term G1"):
        prove_c(model, tmp_path)


@pytest.mark.parametrize("options", [{"package": "arduino"}, {"form": "bits"}, {"form": "ifs"}, {"flash": "64 kB"}])
def test_options_of_an_export_are_read_from_its_manifest(options: dict[str, Any], tmp_path: Path) -> None:
    model = compiled("planar2r", bits=6, target="integer")
    folder = tmp_path / 'an "arm"'
    bt.export_c(model, folder, **options)
    assert all(wire.proved for wire in prove_c(model, folder))
    assert check_tables(model, folder) == []


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "must write a program, but wrote none, and gave no reason"),
        ("exit 1", "failed with exit code 1, and gave no reason"),
        ("echo first >&2; echo 'x.c: error: second' >&2; exit 1", "exit code 1: x.c: error: second$"),
        ("printf '#!/bin/sh\\nkill -11 $$' >tables; chmod +x tables", "looks up all words failed with signal 11"),
        ("printf '#!/bin/sh\\nprintf abc' >tables; chmod +x tables", "must give 8,192, got 0"),
        ("echo nothing >tables; chmod -x tables", "cannot be run"),
    ],
)
def test_compilers_and_programs_that_fail(program: str, said: str, arm: bt.Model, folder: Path) -> None:
    compiler = folder.parent / "compiler"
    compiler.write_text(f"#!/bin/sh\n{program}\n")
    compiler.chmod(0o755)
    with pytest.raises(bt.BddTorqueError, match=said):
        check_tables(arm, folder, compiler=str(compiler))
