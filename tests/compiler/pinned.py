"""Digests of compiled arms, in `digests.json`: the same on every machine and version.

Every built-in arm for tables at a small word length, two in floats; an arm from a URDF without a right
angle, a tree with joints that follow others, and functions: a traced one, a law with an exponential, samples.

python tests/compiler/pinned.py            # compare
python tests/compiler/pinned.py --write    # write them anew, when what is compiled was meant to change
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bddtorque as bt
from bddtorque.model.model import Model
from bddtorque.spec import spec_names

FILE = Path(__file__).parent / "digests.json"
BITS = {"tables": 4, "float": 12}
FLOATS = ("planar2r", "ur5")
URDF, TREE = FILE.with_name("odd_arm.urdf"), FILE.with_name("odd_tree.urdf")
RENEW = "if that was meant: python tests/compiler/pinned.py --write"

Pins = dict[str, dict[str, str]]
"""By arm and target: the digest, and that of each section it covers, so that a change says where it is."""


def pin(model: Model) -> dict[str, str]:
    """Return the digest of a model, and those of all it covers: robot, spec, formats, plan, certificate, tables."""
    return {"digest": model.digest, **{name: _short(section) for name, section in model.defining().items()}}


def _short(section: Any) -> str:
    text = json.dumps(section, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _traced() -> bt.Model:
    words = {"q": (5, "angle"), "w": (6, (-1.3, 2.9))}
    return bt.compile_function(lambda q, w: 3.1 * np.sin(q) * w**2 / 7.0 - w * np.cos(q) + 0.3, inputs=words, output=7)


def _law() -> bt.Model:
    return bt.compile_function(bt.Friction(0.3, (0.5, 0.7), 0.9, 0.2), inputs={"v": (8, 2.1)}, output=8)


def _samples() -> bt.Model:
    points = np.array([[x, y, 0.1 * k + x * y] for k in range(3) for x in (-1.1, 0.3, 0.9) for y in (-2.3, 0.7, 1.9)])
    return bt.compile_samples(points, inputs={"x": (5, (-1.0, 0.8)), "y": (4, (-2.0, 1.8))}, output=7)


FUNCTIONS = {"function traced": _traced, "function law": _law, "function samples": _samples}


def names() -> list[str]:
    """Return what is pinned: arms with their target, and functions."""
    arms = [*spec_names(), URDF.name]
    return [*(f"{arm} tables" for arm in arms), *(f"{arm} float" for arm in (*FLOATS, TREE.name)), *FUNCTIONS]


def made(name: str) -> Model:
    """Compile an arm for a target, as ``"ur5 float"``, or a function; nothing is kept."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]()
    arm, target = name.split()
    if arm == URDF.name:  # it comes without a specification that says so
        return bt.compile(str(URDF), torque="limits", bits=BITS[target], target=target, workers=1, cache=None)
    if arm == TREE.name:
        return bt.compile(str(TREE), bits=BITS[target], target=target, workers=1, cache=None)
    return bt.compile(arm, bits=BITS[target], target=target, workers=1, cache=None)


def kept() -> Pins:
    """Return what is committed."""
    pins: Pins = json.loads(FILE.read_text(encoding="utf-8"))
    return pins


def difference(name: str, found: dict[str, str], pins: Pins) -> str:
    """Return in one line what differs from what is committed, or nothing."""
    if name not in pins:
        return f"{name}: a pinned digest required, there is none in {FILE.name}; {RENEW}"
    wrong = [section for section, digest in pins[name].items() if found.get(section) != digest]
    if not wrong:
        return ""
    return f"{name}: {', '.join(wrong)} differ from {FILE.name}; {RENEW}"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--write"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    found = {name: pin(made(name)) for name in names()}
    if arguments:
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    wrong = [line for name in found if (line := difference(name, found[name], kept()))]
    sys.stdout.write("\n".join(wrong or ["as committed"]) + "\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
