"""The test bench of an exported module: states in, words out, compared with those that the plain interpreter gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bddtorque.export.c_signature import CSignature
from bddtorque.export.selftest import make_vectors
from bddtorque.export.template_files import fill, template
from bddtorque.export.verilog_text import Ports
from bddtorque.model.model import Model

Words = npt.NDArray[np.int64]
GAP = 7
"""One of so many clocks has no state, so that a wrong `valid` is found."""


def vectors_text(model: Model, signature: CSignature, ports: Ports, count: int) -> str:
    """Return states and the words that they give as `$readmemh` reads them: the first port most significant."""
    vectors, _ = make_vectors(model, signature, count)
    held = [
        word.held(vectors[array][:, place])
        for array, formats in signature.arrays.items()
        for place, word in enumerate(formats)
    ]
    columns = [*held, *vectors[signature.result].T]
    widths = [*ports.inputs.values(), *ports.outputs.values()]
    digits = -(-sum(widths) // 4)
    lines = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        packed = 0
        for word, bits in zip(row, widths, strict=True):
            packed = packed << bits | word & ((1 << bits) - 1)
        lines.append(f"{packed:0{digits}x}")
    return "\n".join(lines) + "\n"


def testbench_text(name: str, ports: Ports, count: int) -> str:
    """Return a module that feeds all states, one after the other, and ends with OK or with what differs first."""
    given, wanted = ports.input_bits, ports.output_bits
    lines = [
        f"    wire signed [{bits - 1}:0] {port};" for port, bits in (*ports.inputs.items(), *ports.outputs.items())
    ]
    taken = f"{{{', '.join(ports.inputs)}}}"
    found = f"{{{', '.join(ports.outputs)}}}"
    connected = ", ".join(f".{port}({port})" for port in (*ports.inputs, *ports.outputs))
    outputs = list(ports.outputs.items())
    below = [sum(bits for _, bits in outputs[k + 1 :]) for k in range(len(outputs))]
    checks = "\n".join(
        f"                if ({port} !== vectors[received][{low + bits - 1}:{low}])\n"
        f'                    $display("state %0d, {port}: expected word %0d, got %0d", received,\n'
        f"                        $signed(vectors[received][{low + bits - 1}:{low}]), {port});"
        for (port, bits), low in zip(outputs, below, strict=True)
    )
    declared = "\n".join(lines)
    return fill(
        template("testbench.v"),
        name=name,
        count=count,
        row_top=given + wanted - 1,
        given_top=given - 1,
        given=given,
        declared=declared,
        taken=taken,
        connected=connected,
        found=found,
        wanted_top=wanted - 1,
        checks=checks,
        gap=GAP,
        wanted=wanted,
    )
