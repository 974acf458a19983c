"""The files of an export: what they hold, what they need, and that no name in a model becomes part of the code."""

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import SANITIZERS, WARNINGS, compiled, needs_compiler
from compiled import arm
from examples_tried import EVERY
from hypothesis import assume, given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_exporter import Measured, c_files, find_compiler, stack_of
from bddtorque.export.c_text import MAX_NAME, comment, constant_array, prefix_of, safe_name, safe_names
from bddtorque.plan.table import Table
from bddtorque.proof.certificate import Certificate

EVIL = [
    '*/ #include "/etc/passwd" /*',
    "x\n#error broken\n",
    "a\\\n*/ int stray; /*",
    "??/",
    "$(shell touch pwned)",
    "`touch pwned`; touch pwned\n\ttouch pwned",
    "",
    "../../up",
    "9lives",
    "Ünïcödé 机器人",
    "int",
    "x" * 300,
]


def renamed(model: bt.Model, robot: str, joints: list[str]) -> bt.Model:
    """Return a model with other names everywhere, as a file could have them."""
    torques = [replace(torque, name=name) for torque, name in zip(model.certificate.torques, joints, strict=True)]
    joint_objects = [replace(joint, name=name or "_") for joint, name in zip(model.robot.joints, joints, strict=True)]
    plan = replace(
        model.plan,
        wires=tuple(wire if wire.kind == "input" else replace(wire, name=robot) for wire in model.plan.wires),
        outputs=tuple(replace(output, name=robot) for output in model.plan.outputs),
        source=robot,
        target=robot,
    )
    inputs, outputs = (
        tuple(
            replace(kind, labels=tuple(joints), words=tuple(replace(word, name=robot, unit=robot) for word in kind))
            for kind in side
        )
        for side in (model.formats.inputs, model.formats.outputs)
    )
    return replace(
        model,
        formats=replace(model.formats, inputs=inputs, outputs=outputs),
        provenance=replace(
            model.provenance, name=robot, robot=replace(model.robot, name=robot or "_", joints=tuple(joint_objects))
        ),
        certificate=Certificate(tuple(replace(torque, unit=robot) for torque in torques)),
        plan=plan,
    )


@needs_compiler
@pytest.mark.parametrize("name", EVIL)
def test_names_cannot_break_out(name, tmp_path):
    model = renamed(arm(3, workers=1), name, [name or "a", f"{name}!"])
    files = c_files(model, vectors=8, floats=True).files
    prefix = prefix_of(model.robot.name)
    assert re.fullmatch(f"[a-z][a-z0-9_]{{0,{MAX_NAME - 1}}}", prefix)
    for file, text in files.items():
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", file)
        assert text.isascii() and "??" not in text
        # 9lives and int are harmless, and rightly part of longer names
        assert name in ("", "9lives", "int") or name not in text
    if name not in EVIL[:6] and not EVERY:
        return  # whatever the name, what is left of it is checked above
    program = compiled(files, [f"{prefix}.c", f"{prefix}_float.c", f"{prefix}_selftest.c"], tmp_path, ["-O0"])
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "OK: 8 states\n")
    assert subprocess.run(["make", "-s", "check"], cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert not (tmp_path / "pwned").exists()


@given(st.text(), st.lists(st.text(), max_size=6))
def test_safe_names(robot, joints):
    assert re.fullmatch(r"[A-Za-z0-9_]{1,40}", safe_name(robot))
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", prefix_of(robot))
    assert prefix_of(robot, prefix_of(robot)) == prefix_of(robot)
    found = safe_names(joints)
    assert len(found) == len(joints)
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", name) for name in found)


@given(st.lists(st.text(alphabet="*/ ab\n"), min_size=1, max_size=4))
def test_comments_end_where_they_should(lines):
    text = comment([line.replace("\n", " ") for line in lines])
    assert text.startswith("/*") and text.endswith("*/")
    assert "*/" not in text[2:-2] and "/*" not in text[2:]


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=30))
def test_arrays_have_the_smallest_type(numbers):
    array = constant_array("name", numbers)
    bits, signed = int(re.sub("[^0-9]", "", array.type)), not array.type.startswith("u")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    assert low <= min(numbers) and max(numbers) <= high
    assert array.bytes == len(numbers) * bits // 8
    narrower = [(0, (1 << bits // 2) - 1), (-(1 << (bits // 2 - 1)), (1 << (bits // 2 - 1)) - 1)]
    assert bits == 8 or not any(low <= min(numbers) and max(numbers) <= high for low, high in narrower)
    inside = array.text().split("{")[1].split("}")[0]
    assert [sum(map(int, each.replace(" - 1", " -1").split())) for each in inside.split(",")] == numbers


def test_chosen_names_must_be_identifiers():
    assert prefix_of("arm", "My_arm2") == "My_arm2"
    for name in ("", "2r", "_x", "a b", "a\n", "a" * 41, "ä"):
        with pytest.raises(BddTorqueError, match="name must be up to 40 letters"):
            prefix_of("arm", name)
    for name in ("Makefile", "makefile", "GNUmakefile"):  # make would try to make it from Makefile.c
        with pytest.raises(BddTorqueError, match=f"name must not be that of a makefile, .* got '{name}'"):
            prefix_of("arm", name)
    assert prefix_of("makefile") == "robot_makefile"


@needs_compiler
@pytest.mark.parametrize("options", [{}, {"source": "recursive", "products": "partial"}], ids=str)
def test_nothing_is_needed_but_stdint(options, tmp_path):
    """No heap, no libm, no variables; the float front end calls the words and nothing else."""
    files = c_files(arm(6, workers=1, **options), floats=True).files
    assert set(re.findall(r"#include\s+(\S+)", files["planar2r.c"] + files["planar2r.h"])) == {
        "<stdint.h>",
        '"planar2r.h"',
    }
    code = re.sub(r"/\*.*?\*/", "", files["planar2r.c"], flags=re.DOTALL)
    assert not re.search(r"\b(float|double|malloc)\b", code)
    assert set(re.findall(r"^static (?:BDDTORQUE_RARE )?(?!inline|const)(\w+)", code, re.MULTILINE)) <= {
        "int",
        "int32_t",
        "uint64_t",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for source, needed in (("planar2r", []), ("planar2r_float", ["planar2r_torque_words"])):
        subprocess.run(["cc", *WARNINGS, "-O2", "-c", f"{source}.c"], cwd=tmp_path, check=True)
        told = subprocess.run(["nm", "-u", f"{source}.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert told.stdout.split()[1::2] == needed


@needs_compiler
def test_a_cpp_program_can_include_the_header(tmp_path):
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler (c++) on this machine")
    files = c_files(arm(3, workers=1), floats=True).files
    (tmp_path / "planar2r.h").write_text(files["planar2r.h"])
    (tmp_path / "main.cpp").write_text(
        '#include "planar2r.h"\nint main() { double x[2] = {0, 0}; return planar2r_torque(x, x, x, x); }\n'
    )
    subprocess.run(["c++", "-Wall", "-Werror", "-c", "main.cpp"], cwd=tmp_path, check=True)


def test_the_header_says_what_is_proved():
    model = arm(6, workers=1)
    header = c_files(model).files["planar2r.h"]
    assert model.digest in header
    macros = dict(re.findall(r"^#define (\S+) (\S+)", header, re.MULTILINE))
    for k, torque in enumerate(model.certificate.torques):
        for place in (k, f"_{torque.name.upper()}"):  # by place, and by name
            for quantity in ("q", "qd", "qdd", "tau"):
                word, start = getattr(model.formats, quantity)[k], f"PLANAR2R_{quantity.upper()}{place}_"
                named = {name.removeprefix(start): value for name, value in macros.items() if name.startswith(start)}
                named = {name: float(macros.get(value, value)) for name, value in named.items()}
                assert (named["BITS"], named["LSB"], named["SIGN"]) == (word.bits, word.lsb, word.sign)
                ends = np.array([word.lowest, word.highest])
                values = getattr(model.formats, quantity).dequantise(np.array([[end] * 2 for end in ends]))[:, k]
                assert named["SIGN"] * named["LSB"] * ends + named["OFFSET"] == pytest.approx(values)
                assert named["LOW"] <= named["HIGH"]
            assert (named["BOUND"], named["BOUND_SI"]) == (torque.bound, torque.bound_si)
    assert "(faithful): yes" in header
    assert "planar2r_torque(" not in header
    assert "planar2r_torque(" in c_files(model, floats=True).files["planar2r.h"]
    assert all(len(line) <= 120 for line in header.splitlines())


@needs_compiler
def test_the_self_test_finds_one_wrong_word(tmp_path):
    files = c_files(arm(6, workers=1), floats=True, vectors=64).files
    sources = ["planar2r.c", "planar2r_float.c", "planar2r_selftest.c"]
    good = subprocess.run([compiled(files, sources, tmp_path / "good")], capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout) == (0, "OK: 64 states\n")
    broken = {
        "planar2r_selftest.c": (r"(int32_t tau\[.*\n *\{-?)\d+", r"\g<1>999"),  # a vector
        "planar2r.c": (r"(tau\[1\] = floor32\()", r"\g<1>UINT32_C(9999) + "),  # the arithmetic
        "planar2r_float.c": (r"(#define TURN )\S+", r"\g<1>6.28"),
    }
    for name, (pattern, by) in broken.items():
        text, count = re.subn(pattern, by, files[name], count=1)
        assert count == 1 and text != files[name]
        program = compiled({**files, name: text}, sources, tmp_path / name.removesuffix(".c"), SANITIZERS)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "FAILED" in done.stdout and "expected" in done.stdout, name


def test_the_same_model_gives_the_same_files():
    model = arm(6, workers=1)
    assert c_files(model, floats=True).files == c_files(model, floats=True).files


@needs_compiler
def test_sizes_are_measured(tmp_path):
    exported = bt.export_c(arm(6, workers=1), tmp_path / "c")
    measured = exported.measured
    assert isinstance(measured, Measured)
    assert exported.table_bytes < measured.rom < exported.table_bytes + 20_000
    assert measured.ram == 0
    assert measured.stack is None or 0 < measured.stack < 4_000
    assert exported.to_plain()["measured"]["rom"] == measured.rom


def test_no_compiler_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    exported = bt.export_c(arm(3, workers=1), tmp_path / "c")
    assert exported.measured == "no C compiler found"
    assert (tmp_path / "c" / "planar2r.c").is_file()
    with pytest.raises(BddTorqueError, match="compiler must be a C compiler that is installed, got 'tcc'"):
        bt.export_c(arm(3, workers=1), tmp_path / "d", compiler="tcc")
    assert not (tmp_path / "d").exists()


def test_a_compiler_that_fails_is_said(tmp_path):
    exported = bt.export_c(arm(3, workers=1), tmp_path / "c", compiler="false")
    assert exported.measured == "false: failed"
    assert find_compiler("false") == ["false"]


def test_the_stack_is_that_of_a_chain_of_calls():
    usage = (
        "arm.c:9:5:block_1\t16\tstatic\narm.c:9:5:block_2.constprop.0\t24\tstatic\narm.c:12:3:partial_products_2\t40\tstatic\n"
        "arm.c:20:5:arm_torque_words\t200\tstatic\narm_float.c:20:5:arm_torque\t80\tdynamic,bounded\n"
    )
    assert stack_of(usage) == 24 + 40 + 200 + 80
    assert stack_of("") is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"form": "lockstep"}, "form must be 'chosen', 'dense'"),
        ({"form": "densr"}, "did you mean 'dense'"),
        ({"vectors": 0}, "vectors must be between 1 and 100,000, got 0"),
        ({"vectors": True}, "vectors must be"),
        ({"flash": "1 kB"}, "bytes of tables in their smallest forms and about"),
        ({"flash": "10 B"}, "flash must be at least 256 bytes, got 10"),
        ({"flash": "much"}, "flash must be a size in bytes"),
    ],
)
def test_options_that_make_no_sense(options, said, tmp_path):
    with pytest.raises(BddTorqueError, match=re.escape(said)):
        bt.export_c(arm(3, workers=1), tmp_path / "c", **options)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.integers(-(2**31), 2**32 - 1) | st.integers(-300, 70_000), min_size=4, max_size=4))
def test_a_model_states_the_bytes_of_tables_that_are_exported(values):
    assume(min(values) >= -(2**31) and (min(values) >= 0 or max(values) < 2**31))
    table = Table(np.array(values), (2,), 40, signed=True)
    assert table.stored_bytes == constant_array("t", table.values).bytes


@pytest.mark.parametrize("options", [{}, {"bits": 12}, {"target": "integer"}], ids=str)
def test_compile_info_and_export_state_the_same_bytes(options, tmp_path):
    model = arm(**options)
    assert bt.export_c(model, tmp_path / "arm.c").table_bytes == model.summary()["table_bytes"]
