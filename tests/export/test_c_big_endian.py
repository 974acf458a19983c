"""The self-test on a machine of another kind: PowerPC, 32 bits, big-endian, run by qemu's user mode."""

import shutil
import subprocess

import pytest
from compiled import arm

from bddtorque.export.exporter import c_files

COMPILER, MACHINE = "powerpc-linux-gnu-gcc", "qemu-ppc"
PACKAGES = "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user"
MODELS = {
    "integer": {"bits": 12, "target": "integer", "chip": "cortex-m0"},
    "tables": {"bits": 6},
    "float": {"bits": 8, "target": "float"},
}


@pytest.mark.skipif(
    shutil.which(COMPILER) is None or shutil.which(MACHINE) is None,
    reason=f"no PowerPC to run on: apt-get install {PACKAGES}",
)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("io", [16, 32])
def test_the_self_test_passes(kind, io, tmp_path):
    code = c_files(arm(**MODELS[kind]), vectors=500, io=io)
    for name, text in code.files.items():
        (tmp_path / name).write_text(text)
    sources = [*code.sources, f"{code.prefix}_selftest.c"]
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-static"]
    subprocess.run([COMPILER, *flags, "-o", "selftest", *sources, "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([MACHINE, "./selftest"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "OK: 500 states\n")
