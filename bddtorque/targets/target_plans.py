"""The plan of traced outputs for the target of a spec: the same for torques and for every other quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bddtorque.base.errors import BddTorqueError
from bddtorque.spec import Spec
from bddtorque.targets import TARGETS
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.targets.target import Planned, PlanTask, TracedOutputs
from bddtorque.words.argument import Argument


def check_target(spec: Spec) -> None:
    """Refuse options that the target of a spec does not take."""
    given = {"precision": spec.precision, "chip": spec.chip, "flash": spec.flash}
    chosen = {key for key, value in given.items() if value is not None}
    check_options(spec.target, chosen | ({"products"} if spec.products != "auto" else set()), spec.at)


def check_options(target: str, chosen: Iterable[str], at: Callable[[str], str], where: str = "") -> None:
    """Refuse options that were chosen and that a target does not take; `at` says where one was."""
    for key in sorted(chosen):
        if key not in TARGETS[target].options:
            fits = [f"'{each.name}'" for each in TARGETS.values() if key in each.options]
            targets = f"target{'s' if len(fits) > 1 else ''} {' and '.join(fits)}"
            said = f"{where}{key} is only valid for {targets}, got target '{target}'{at(key)}"
            raise BddTorqueError(said, option="" if at(key) else key)


def plan_for_target(
    spec: Spec,
    accuracy: float,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    traces: Sequence[TracedOutputs],
    laws: Sequence[LawTerm],
) -> Planned:
    """Return the plan for the target of a resolved spec, and how far what it computes is from the outputs.

    Of several graphs the one is taken whose plan costs a chip least; for tables the first, unless the last takes a
    fraction of its operations. `laws` are what is added to outputs.
    """
    return TARGETS[spec.target].plan(PlanTask(spec, arguments, outputs, accuracy, laws), traces)
