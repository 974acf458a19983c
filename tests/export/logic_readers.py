"""Readers of PLA and BLIF for tests, apart from the package."""

from __future__ import annotations

import numpy as np


def words_of(pla: str) -> list[int]:
    """Return the entries of a PLA, unsigned, by index; what no row covers is 0, and no two rows overlap."""
    lines = [line for line in pla.splitlines() if not line.startswith("#")]
    stated = {line.split()[0]: line.split()[1:] for line in lines if line.startswith(".")}
    inputs, outputs = int(stated[".i"][0]), int(stated[".o"][0])
    assert (len(stated[".ilb"]), len(stated[".ob"])) == (inputs, outputs)
    assert stated[".type"] == ["f"]
    rows = [line.split() for line in lines if not line.startswith(".")]
    assert len(rows) == int(stated[".p"][0])
    found = [0] * (1 << inputs)
    for cube, word in rows:
        free = cube.count("-")
        assert cube.rstrip("-") == cube.replace("-", "")
        assert (len(cube), len(word)) == (inputs, outputs)
        first = int(cube.replace("-", "0"), 2)
        for index in range(first, first + (1 << free)):
            assert found[index] == 0
            found[index] = int(word, 2)
    return found


def simulate(blif: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the nets of the first model of a netlist whose gates stand in order."""
    models: dict[str, list[list[str]]] = {}
    for line in blif.splitlines():
        if line.startswith(".model"):
            models[line.split()[1]] = here = []
        elif line and not line.startswith(("#", ".end")):
            here.append(line.split())
    first = next(iter(models))

    def run(name: str, nets: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        target = ""
        for words in models[name]:
            if words[0] == ".names":
                *sources, target = words[1:]
                nets[target] = np.zeros(len(next(iter(inputs.values()))), np.bool_)
            elif words[0] == ".subckt":
                ports = dict(word.split("=") for word in words[2:])
                found = run(words[1], {port: nets[net] for port, net in ports.items() if port[0] == "x"})
                nets |= {net: found[port] for port, net in ports.items() if port[0] == "y"}
            elif not words[0].startswith("."):
                row = words[0] if sources else ""
                terms = [nets[net] == (bit == "1") for net, bit in zip(sources, row, strict=True) if bit != "-"]
                nets[target] = nets[target] | np.logical_and.reduce([*terms, np.ones_like(nets[target])])
        return nets

    return run(first, dict(inputs))


def bits_of(name: str, words: np.ndarray, bits: int) -> dict[str, np.ndarray]:
    return {f"{name}_{k}": (words >> k & 1).astype(np.bool_) for k in range(bits)}


def joined(nets: dict[str, np.ndarray], name: str, bits: int) -> np.ndarray:
    word = sum(nets[f"{name}_{k}"].astype(np.int64) << k for k in range(bits))
    return word - ((word >> (bits - 1)) << bits)
