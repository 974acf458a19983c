"""Make the plan and the certificate of a compiled function again, from what its file says, to verify it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.function_compiling import certify_function
from bddtorque.compiler.function_planning import Draft, checked_graph, draft_of_given, draft_of_graph, draft_of_law
from bddtorque.compiler.function_words import Asked
from bddtorque.model.function_model import FunctionModel
from bddtorque.plan.blocks import GivenBlock, LawBlock
from bddtorque.plan.bound import BlockFacts
from bddtorque.proof.function_certificate import FunctionCertificate


def remade(model: FunctionModel) -> tuple[Draft, str]:
    """Return the plan made anew, and what it was made from."""
    names, formats, plan = model.input_names, model.inputs, model.plan
    out = Asked(model.output.name, model.output.bits, None, model.output.unit, model.output)
    relative_to = model.certificate.relative_to
    where = f"function '{model.name:.60}'"
    if model.graph is not None and relative_to == "traced":
        checked_graph(model.graph, names, formats, where)
        draft = draft_of_graph(model.graph, names, formats, out, model.accuracy, plan.block_bits, plan.target)
        return draft, "the graph in the file"
    block = plan.blocks[0] if len(plan.blocks) == 1 else None
    if isinstance(block, LawBlock) and relative_to in ("law", "samples"):
        return draft_of_law(block.law, names, formats, out, relative_to), f"the {block.law.kind} in the file"
    if isinstance(block, GivenBlock) and relative_to == "float":
        return draft_of_given(block, names, formats, model.output), "the words in the file"
    raise BddTorqueError(f"{where}: a plan of what the certificate is relative to ({relative_to}) required")


def recertified(model: FunctionModel, draft: Draft, facts: Sequence[BlockFacts]) -> FunctionCertificate:
    """Return the certificate composed anew; what was only stated is as stated: assumed error, spread, given reach."""
    found = certify_function(draft, model.input_names, model.inputs, model.tables, facts, 0.0, model.certificate.spread)
    stated = model.certificate
    if any(isinstance(block, GivenBlock) for block in model.plan.blocks):
        found = replace(found, low=stated.low, high=stated.high)
    return replace(found, assumed=stated.assumed)
