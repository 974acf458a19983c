"""Digests of every built-in arm at a small word length, in `digests.json`: the same on every machine and version.

python tests/stability/pinned.py            # compare
python tests/stability/pinned.py --write    # write them anew, when what is compiled was meant to change
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import bddtorque as bt
from bddtorque.model import Model
from bddtorque.spec import spec_names

FILE = Path(__file__).parent / "digests.json"
BITS = 4
TARGETS = ("tables", "host")
RENEW = "if that was meant: python tests/stability/pinned.py --write"

Pins = dict[str, dict[str, str]]
"""By arm and target: the digest, and that of each section it covers, so that a change says where it is."""


def pin(model: Model) -> dict[str, str]:
    """Return the digest of a model, and those of robot, spec, formats, plan, certificate and tables."""
    return {"digest": model.digest, **{name: _short(section) for name, section in model.defining().items()}}


def _short(section: Any) -> str:
    text = json.dumps(section, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def names() -> list[str]:
    """Return the arms and targets that are pinned."""
    return [f"{arm} {target}" for arm in spec_names() for target in TARGETS]


def made(name: str, **how: Any) -> Model:
    """Compile an arm for a target, as ``"ur5 host"``; nothing is kept."""
    arm, target = name.split()
    return bt.compile(arm, bits=BITS, target=target, **{"workers": 1, "cache": None, **how})


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
    return f"{name} at {BITS} bits: {', '.join(wrong)} differ from {FILE.name}; {RENEW}"


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
