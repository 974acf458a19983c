"""A controller that loads and runs a file needs NumPy and Numba, and nothing of the compiler."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compiled, random_words

FORBIDDEN = ("dd", "typer", "click", "rich", "mpmath", "matplotlib", "scipy")

RUN = (
    f"FORBIDDEN = {FORBIDDEN!r}"
    + """
import json, sys

class Forbidding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in FORBIDDEN:
            raise ImportError(f"{name} must not be imported here")

sys.meta_path.insert(0, Forbidding())
import numpy as np
import bddtorque as bt
model = bt.load(sys.argv[1])
states = [np.array(words) for words in json.load(open(sys.argv[2]))]
found = {
    "words": model.torque_words(*states).tolist(),
    "bits": model.evaluator("bits").torque_words(*states).tolist(),
    "dense": model.evaluator("words", "dense").torque_words(*states).tolist(),
}
floats = model.torque(*[f.dequantise(w) for f, w in zip(model.formats.inputs, states)])
tau = np.empty(model.robot.degrees_of_freedom, dtype=np.int64)
model.kernel("words")(*[words[0] for words in states], tau)
str(model.certificate), repr(model), model.summary()
model.save(sys.argv[3])
foreign = sorted({name.partition(".")[0] for name in sys.modules} & set(FORBIDDEN))
print(json.dumps({**found, "kernel": tau.tolist(), "foreign": foreign}))
"""
)


@pytest.mark.parametrize(
    "options", [{"bits": 6}, pytest.param({"bits": 6, "source": "recursive"}, marks=pytest.mark.everything)], ids=str
)
def test_loading_and_evaluating(options: dict, tmp_path: Path) -> None:
    model = compiled(**options)
    model.save(tmp_path / "arm.bdt")
    states = random_words(model, 20)
    (tmp_path / "states.json").write_text(json.dumps([words.tolist() for words in states]))
    places = [str(tmp_path / name) for name in ("arm.bdt", "states.json", "again.bdt")]
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, *places], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    wanted = model.torque_words(*states).tolist()
    assert found["words"] == found["bits"] == found["dense"] == wanted
    assert found["kernel"] == wanted[0] and found["foreign"] == []
    assert (tmp_path / "again.bdt").read_bytes() == (tmp_path / "arm.bdt").read_bytes()
