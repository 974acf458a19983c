"""Compiled words beside float peers, ns a state and as ratios to the strongest peer, interleaved on one core.

Peers go from the same words to the same words: customised float64 with libm, the same with a polynomial sine-cosine,
and float32 with a sine table of 4096 entries. Run it on a quiet machine.

    python experiments/bench_words.py [--quick]
"""

from __future__ import annotations

import sys

import bddtorque as bt
from bddtorque.bench.running import bench, machine

ARMS = ("planar2r", "planar3r_a", "puma560", "ur5")


def main() -> None:
    quick = "--quick" in sys.argv
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    for arm in ARMS[:1] if quick else ARMS:
        for target in ("host", "tables"):
            model = bt.compile(arm, target=target)
            bound = max(model.certificate.bounds)
            print(f"\n{arm}, 12 bits, target {target}, source {model.plan.source}, proved {bound:.3f} units")
            for each in bench(model, rounds=5 if quick else 25):
                proved = "proved" if each.proved else ""
                spread = f"{each.lowest:.2f} to {each.highest:.2f}"
                print(f"  {each.name:24}{each.nanoseconds:10.1f} ns   {each.ratio:8.2f} × float32 ({spread})  {proved}")


if __name__ == "__main__":
    main()
