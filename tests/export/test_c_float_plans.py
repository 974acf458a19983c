"""Exported C of plans in floats gives the words of the evaluators, with fused instructions or without, on a chip."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import compiled as built
from c_programs import counted, needs_compiler, run_words, turned, wild_words
from compiled import arm, compiled, random_words, reference, some_words

import bddtorque as bt
from bddtorque.bench.emulation import measure, missing_tools
from bddtorque.export.c_call import CSignature
from bddtorque.export.c_exporter import c_files
from bddtorque.export.c_float_steps import ROUNDED_DOUBLES, ROUNDED_FLOATS, SECTIONS
from bddtorque.export.c_source import used_helpers
from bddtorque.export.folder import fill
from bddtorque.words.ieee import fused

pytestmark = needs_compiler
STRICT = ["-Wdouble-promotion", "-Wfloat-conversion"]
FLAGS = {
    "sanitized": [*STRICT, "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    # its own instructions, and a compiler that is asked to fuse more than the plan does
    "native": [*STRICT, "-O3", "-std=gnu99", "-ffp-contract=fast", "-march=native"],
}


def clamped(model: bt.Model) -> bt.Model:
    """Return a model whose torques have few words."""
    outputs = tuple(replace(output, low=-7, high=11) for output in model.plan.outputs)
    return replace(model, plan=replace(model.plan, outputs=outputs))


MODELS = {
    "table": lambda: arm(6, target="float"),
    "table, a constant angle": lambda: turned(arm(6, target="float")),
    "clamped": lambda: clamped(arm(6, target="float")),
    "polynomial": lambda: arm(18, target="float", precision="single"),
    "polynomial, a constant angle": lambda: turned(arm(18, target="float", precision="single")),
    "24 bits in single precision": lambda: arm(24, target="float", precision="single", accuracy=8),
    "double": lambda: arm(6, target="float", precision="double"),
    "double, polynomial": lambda: arm(18, target="float", precision="double"),
    "double, a constant angle": lambda: turned(arm(18, target="float", precision="double")),
    "prismatic": lambda: compiled("scara", bits=12, target="float"),
}


LONGER = ("table, a constant angle", "double", "polynomial", "prismatic")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.everything] * (kind in LONGER)) for kind in MODELS]
)
def test_words(kind, tmp_path):
    model = MODELS[kind]()
    drawn = some_words(model, 2_000) if len(model.formats.q) == 2 else random_words(model, 2_000)
    words = [np.concatenate(pair) for pair in zip(drawn, wild_words(model, 2_000), strict=True)]
    expected = reference(model, words)
    if kind == "clamped":
        assert (expected.min(), expected.max()) == (-7, 11)
    for name, flags in FLAGS.items():
        tau, _ = run_words(model, words, tmp_path / name, flags)
        assert np.array_equal(tau, expected)


def test_words_out_of_range_are_held_and_counted(tmp_path):
    """Velocities and accelerations by one test of all, angles beyond the limits of their joint one by one."""
    ranges = {"bits": 6, "position": [[-1.0, 2.0], [2.0, 4.5]], "workers": 1}
    model, tables = (bt.compile("planar2r", target=target, **ranges) for target in ("float", "tables"))
    words = [np.concatenate(pair) for pair in zip(random_words(model, 50), wild_words(model, 5_000), strict=True)]
    tau, outside = run_words(model, words, tmp_path)
    assert np.array_equal(tau, reference(model, words))
    assert outside.sum() == counted(tables, words).sum()
    assert [counted(tables, [each[k : k + 1] for each in words]).sum() for k in range(40, 60)] == outside[
        40:60
    ].tolist()
    assert {0, 1, 6} <= set(outside.tolist())


def test_friction_is_a_table(tmp_path):
    law = bt.Friction(viscous=2.0, coulomb=(4.0, 5.0), static=(8.0, 7.0), stribeck_velocity=0.05)
    model = bt.compile(
        bt.load_robot("planar2r").with_friction({"shoulder": law, "elbow": law}), bits=6, target="float", workers=1
    )
    assert model.plan.blocks
    words = random_words(model, 5_000)
    for form in ("dense", "edge_valued"):
        assert np.array_equal(run_words(model, words, tmp_path / form, form=form)[0], reference(model, words))


ROWS = 200_000
MAIN = """\
#include <stdio.h>
#include <stdint.h>
{code}

int main(void)
{{
    {real} x[{inputs}];

    while (fread(x, sizeof x, 1, stdin) == 1) {{
        const {result} found = {call};

        if (fwrite(&found, sizeof found, 1, stdout) != 1) {{
            return 1;
        }}
    }}
    return 0;
}}
"""


def results(folder, code: str, call: str, given: np.ndarray, result: str, flags: list[str]) -> np.ndarray:
    """Return what a function of floats gives for each row."""
    single = given.dtype == np.float32
    code = f"{used_helpers(['clamped32', 'clamped64'], CSignature())}\n{code}"
    main = MAIN.format(
        code=f"{fill(SECTIONS['preamble'], include='' if single else '#include <math.h>')}{code}",
        call=call, result=result,
        real="float" if single else "double", inputs=given.shape[1],
    )  # fmt: skip
    program = built({"main.c": main}, ["main.c"], folder, [*STRICT, "-Wno-unused-function", *flags])
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, "=i4" if result == "int32_t" else given.dtype)


@pytest.mark.parametrize("flags", [["-O2"], ["-O2", "-march=native"]], ids=" ".join)
def test_fused_is_rounded_once(flags, tmp_path):
    """Ties of the sum, and sums a hair beside one that float64 would round onto it."""
    rng = np.random.default_rng(3)
    a, b, c = (np.ldexp(rng.integers(1, 1 << 24, ROWS), rng.integers(-60, 30, ROWS)) for _ in range(3))
    a, b, c = (np.where(rng.random(ROWS) < 0.5, -each, each).astype(np.float32) for each in (a, b, c))
    tie = np.arange(ROWS) % 2 == 0
    # a·b = 2^k·(1 + 2^-23)·(1 - 2^-23) is a hair below a half of c's last place
    k = rng.integers(-20, 20, ROWS)
    near = np.ldexp(1 + 2.0**-23, k).astype(np.float32), np.full(ROWS, 1 - 2.0**-23, np.float32)
    odd = np.ldexp(2 * rng.integers(1 << 22, 1 << 23, ROWS) + rng.integers(0, 2, ROWS), k + 1).astype(np.float32)
    given = np.stack([np.where(tie, near[0], a), np.where(tie, near[1], b), np.where(tie, odd, c)], axis=1)
    exact = fused(*given.T)
    twice = (given[:, 0].astype(np.float64) * given[:, 1] + given[:, 2]).astype(np.float32)
    assert (exact != twice).sum() > ROWS // 8  # rounding twice would not do
    found = results(tmp_path, SECTIONS["fused single"], "fused(x[0], x[1], x[2])", given, "float", flags)
    assert np.array_equal(found, exact)


@pytest.mark.parametrize(
    ("dtype", "code", "call", "bits"),
    [
        (np.float32, fill(SECTIONS["rounded"], real="float", **ROUNDED_FLOATS), "rounded", 23),
        (np.float32, fill(SECTIONS["rounded"], real="float", **ROUNDED_FLOATS), "rounded", 6),
        (np.float32, SECTIONS["rounded_long"], "rounded_long", 24),
        (np.float64, fill(SECTIONS["rounded"], real="double", **ROUNDED_DOUBLES), "rounded", 24),
    ],
)
def test_torques_are_rounded_to_even_and_clamped(dtype, code, call, bits, tmp_path):
    rng = np.random.default_rng(4)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    halves = rng.integers(2 * low - 9, 2 * high + 9, ROWS) / 2
    beside = np.nextafter(halves.astype(dtype), rng.choice([-np.inf, np.inf], ROWS).astype(dtype))
    largest = np.finfo(dtype).max
    wild = rng.choice([-1, 1], ROWS) * np.ldexp(rng.uniform(1, 2, ROWS), rng.integers(-140, 127, ROWS))
    ends = [0.0, -0.0, low, high, low - 0.5, high + 0.5, 2.0**22, -(2.0**22), 2.0**23, -(2.0**23), -1.5 * 2.0**23]
    ends += [2.0**24, -(2.0**24), largest, -largest, np.inf, -np.inf]
    given = np.concatenate([halves, beside, wild, ends]).astype(dtype)
    found = results(tmp_path, code, f"{call}(x[0], {low}, {high})", given[:, None], "int32_t", ["-O2"])
    assert np.array_equal(found, np.rint(np.clip(given, low, high)))


@pytest.mark.parametrize(
    ("flag", "problem"),
    [("-ffast-math", "compile without -ffast-math"), ("-mfpmath=387", "FLT_EVAL_METHOD 0")],
)
def test_arithmetic_that_rounds_otherwise_is_refused(flag, problem, tmp_path):
    code = c_files(arm(6, target="float"))
    for name, text in code.files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(["cc", flag, "-c", "planar2r.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if "unrecognized" in done.stderr or "unknown" in done.stderr:
        pytest.skip(f"this compiler has no {flag}")
    assert done.returncode != 0 and problem in done.stderr


def test_one_term_is_for_tables():
    wanted = "a term alone: terms of torques: 'planar2r' was compiled for a target that multiplies"
    with pytest.raises(bt.BddTorqueError, match=wanted):
        c_files(arm(6, target="float"), term="G2")


def test_the_makefile_checks_a_folder(tmp_path):
    """In double precision too, which needs fma of libm where the processor has none."""
    for precision in ("single", "double"):
        exported = bt.export_c(arm(6, target="float", precision=precision), tmp_path / precision, floats=True)
        assert exported.table_bytes == 80 * (4 if precision == "single" else 8)
        done = subprocess.run(
            ["make", "-s", "check"], cwd=tmp_path / precision, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "OK: 256 states\n"), done.stderr


@pytest.mark.parametrize(("robot", "most"), [("planar2r", 300), pytest.param("ur5", 900, marks=pytest.mark.everything)])
def test_a_cortex_m4f_gives_the_same_words_in_few_cycles(robot, most, tmp_path):
    """12 bits, all checks; for the UR5 tuned float32 code without any took 781 cycles."""
    lacking = missing_tools("cortex-m4f")
    if lacking:
        pytest.skip(lacking)
    model = compiled(robot, bits=12, target="float")
    bt.export_c(model, tmp_path / robot, vectors=1)
    words = [np.concatenate(pair) for pair in zip(random_words(model, 30), wild_words(model, 10), strict=True)]
    measured = measure(tmp_path / robot, "cortex-m4f", np.concatenate(words, axis=1))
    assert np.array_equal(measured.words, reference(model, words))
    assert measured.net[:30].max() <= most
    assert measured.ram == 0
