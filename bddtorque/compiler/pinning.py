"""Plans in files: written for programs to read, and for a later compilation to be held to.

A pinned plan is not taken on trust: it is compared with the plan that the planner makes of robot and specification, and
never used itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.files import read_whole, write_whole
from bddtorque.plan.blocks import Block, output_format
from bddtorque.plan.bound import OutputBound
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Output, Product
from bddtorque.targets.tables.cost import block_candidates, product_candidates

FORMAT, VERSION = "bddtorque plan", 1
MAX_FILE_BYTES = 64 * 2**20
"""Bytes, as those of the header of a model, which carries its plan; JSON takes up to 25 times as much memory."""
MAX_VALUE_LENGTH = 60
"""Characters shown of a value that differs."""


def plan_to_plain(plan: Plan, robot: str, bounds: Sequence[OutputBound]) -> dict[str, Any]:
    """Return all there is to know of a plan before its tables are made, for JSON; only `plan` is read again."""
    outputs: Sequence[Output] = plan.outputs
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "robot": robot,
        "counts": plan.counts(),
        "plan": plan.to_plain(),
        "bounds": [
            {"output": output.name, "total": bound.total, **asdict(bound)}
            for output, bound in zip(outputs, bounds, strict=True)
        ],
    }
    if plan.in_floats:
        return plain | {"blocks": [_block_figures(block) for block in plan.blocks]}
    return plain | {
        "wire_bits": [plan.bits_of(wire) for wire in range(len(plan.wires))],
        "blocks": [_block_figures(block) for block in plan.blocks],
        "products": [
            {"wire": k, "candidates": [each.to_plain() for each in product_candidates(plan, wire)]}
            for k, wire in enumerate(plan.wires)
            if isinstance(wire, Product)
        ],
    }


def _block_figures(block: Block) -> dict[str, Any]:
    bits, signed = output_format(block)
    return {
        "kind": block.kind,
        "input_bits": list(block.input_widths),
        "output_bits": bits,
        "signed": signed,
        "rows": 1 << sum(block.input_widths),
        "candidates": [each.to_plain() for each in block_candidates(block)],
    }


def save_plan(plain: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write what `plan_to_plain` returned to a file, whole or not at all."""
    write_whole(path, (json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def load_pinned(path: str | PathLike[str]) -> Any:
    """Return the plan, as plain data, of a file that `save_plan` wrote; anything else is refused in one line."""
    if not isinstance(path, str | PathLike):
        raise BddTorqueError(f"plan must be the path of a file with a plan, got {type(path).__name__}")
    where, expected = one_line(str(path)), "must be a plan as `bddtorque plan SPEC -o FILE` writes it"
    data = read_whole(path, MAX_FILE_BYTES, "a plan")
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError):  # ValueError: also text that is no UTF-8, and endless numbers
        raise BddTorqueError(f"{where} {expected}, got a file that is not JSON") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT or "plan" not in plain:
        raise BddTorqueError(f"{where} {expected}, got something else")
    if plain.get("version") != VERSION:
        raise BddTorqueError(one_line(f"{where}: version must be {VERSION}, got {plain.get('version')!r:.20}"))
    return plain["plan"]


def check_pinned(pinned: Any, made: Plan, where: str) -> None:
    """Refuse a pinned plan that is not the one the planner makes, and say what differs first."""
    for difference in _differences(pinned, made.to_plain(), ""):
        raise BddTorqueError(
            one_line(
                f"{where} is not the plan that the planner makes of this robot and specification:{difference}; "
                "`bddtorque plan SPEC -o FILE`, with the same options, writes a new one"
            )
        )


def _differences(given: Any, made: Any, name: str) -> Iterator[str]:
    """Yield what differs in plain data, with the keys and places that lead there."""
    if isinstance(given, dict) and isinstance(made, dict):
        for key in made:
            yield from _differences(given.get(key), made[key], f"{name} {key}")
        if list(given) != list(made):
            yield f"{name} keys {_shown(list(given))} in the file, {_shown(list(made))} in the new plan"
    elif isinstance(given, list) and isinstance(made, list):
        if len(given) != len(made):
            yield f"{name} {len(given)} in the file, {len(made)} in the new plan"
        for k, (old, new) in enumerate(zip(given, made, strict=False)):
            yield from _differences(old, new, f"{name} {k}")
    elif repr(given) != repr(made):
        yield f"{name} {_shown(given)} in the file, {_shown(made)} in the new plan"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}..."
