"""The page of a compiled function, of measured data, or of a quantity of a robot other than its torques."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.sizes import bits_text
from bddtorque.model.model import Model
from bddtorque.proof.torque_range import effective_bits
from bddtorque.report.function_truth import page_truth
from bddtorque.report.live_section import (
    TORQUE_HEADS,
    live_buttons,
    live_map,
    live_said,
    output_row,
    sliders,
    without_script,
)
from bddtorque.report.markup import Markup, element, table
from bddtorque.report.proof_sections import effective_text, header
from bddtorque.report.script_data import CHECKS
from bddtorque.report.view import SHARES

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

COMPARED_STATES, EVERY_STATE = 4096, 16
"""Random states that every report compares; all states where the inputs have no more bits than this together."""
OUTPUT_HEADS = ("output", *TORQUE_HEADS[1:2], "true value", *TORQUE_HEADS[3:])


class FunctionPage:
    """What the page of a compiled function or quantity shows."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.names, self.words = list(model.formats.words), list(model.formats.words.values())
        shares = cycle(SHARES[0])
        # the input words that the page begins with
        self.start = [
            min(max(round(share * (1 << word.bits)), word.lowest), word.highest)
            for word, share in zip(self.words, shares, strict=False)
        ]
        tried = self._tried()
        found, true = self._outputs(tried), model.true_units(self._named(tried))
        # states, largest: on how many states words were compared with true values, and the largest error of each
        # output, in units; none where nobody knows the true values
        self.states = 0
        self.largest: tuple[float, ...] = ()
        if true is not None:
            errors = np.abs(found - self._held(true)).max(axis=0)
            self.states, self.largest = len(tried), tuple(float(error) for error in errors)
        few = tried[np.linspace(0, len(tried) - 1, min(CHECKS, len(tried))).astype(np.int64)]
        # input words and output words that go along with the page, so that it can compare itself
        self.checks = few, self._outputs(few)
        # what the page computes true outputs from, as plain data; None if it cannot
        self.truth = page_truth(model, self._named(few))

    def _tried(self) -> Integers:
        """Return input words (N, inputs): all there are, or random ones and corners."""
        if sum(word.bits for word in self.words) <= EVERY_STATE:
            axes = [np.arange(word.lowest, word.highest + 1) for word in self.words]
            return np.stack([each.reshape(-1) for each in np.meshgrid(*axes, indexing="ij")], axis=1)
        rng = np.random.default_rng(0)
        columns = [
            np.concatenate(
                [
                    rng.integers(word.lowest, word.highest, COMPARED_STATES, endpoint=True),
                    rng.choice([word.lowest, -1, 0, 1, word.highest], COMPARED_STATES // 8),
                ]
            )
            for word in self.words
        ]
        return np.stack(columns, axis=1)

    def _named(self, words: Integers) -> dict[str, Integers]:
        return dict(zip(self.names, words.T, strict=True))

    def _outputs(self, words: Integers) -> Integers:
        """Return the output words (N, outputs) of input words."""
        if self.model.provenance.robot is not None:
            inputs = self.model.formats.inputs
            ends = np.cumsum([len(array) for array in inputs])[:-1]
            parts = np.split(words, ends, axis=1)
            named = {array.name: part for array, part in zip(inputs, parts, strict=True)}
            return np.asarray(self.model.evaluator().output_words(**named))
        return np.asarray(self.model.words(*words.T))[:, None]

    def _held(self, units: Floats) -> Floats:
        """Return true values in units as their words can hold them."""
        outputs = self.model.formats.results.values()
        low, high = ([getattr(word, end) for word in outputs] for end in ("lowest", "highest"))
        return np.clip(units, low, high)

    def _effective_bits(self) -> list[float]:
        """Return the effective bits of each output; those of an exact one are not defined."""
        outputs = self.model.certificate.outputs
        return [effective_bits(each.largest, each.bound_si) for each in outputs]

    def head(self) -> Markup:
        """Return the title, the worst-case statement, and the figures that people ask for first."""
        model = self.model
        worst = max(model.certificate.bounds)
        bits = self._effective_bits()
        inputs, outputs = (bits_text([word.bits for word in words]) for words in (self.words, _outputs_of(model)))
        facts = [
            ("inputs", f"{len(self.words)}: {_short(self.names)}"),
            ("bits: output; inputs", f"{outputs}; {inputs}"),
            ("worst-case error", f"{worst:.3f} units"),
            ("effective bits", effective_text(bits)),
        ]
        bound = f"at most {worst:.3f} units"
        each = "the compiled word is" if len(bits) == 1 else "each compiled word is"
        stated = any(output.relative_to == "float" for output in model.certificate.outputs)
        against = "float64 value that the function returned" if stated else "true value"
        statement = f"For every input, {each} proved to be {bound} of its last bit from the {against}."
        name = model.name if model.provenance.robot is None else f"{model.name}, {model.quantity}"
        return header(name, statement, facts)

    def live_section(self, too_large: str | None) -> Markup:
        """Return the sliders, the outputs of the first state, and the map or curve."""
        model, one = self.model, np.array([self.start], dtype=np.int64)
        compiled, true = self._outputs(one)[0], model.true_units(self._named(one))
        proved, outputs, bits = model.certificate.outputs, _outputs_of(model), self._effective_bits()
        rows = [
            output_row(
                k + 1,
                each.name,
                each,
                outputs[k],
                None if too_large else compiled[k],
                None if true is None or self.truth is None else float(true[0, k]),
                bits[k],
                OUTPUT_HEADS,
            )
            for k, each in enumerate(proved)
        ]
        intro = "Move the sliders. This page computes the output words as every evaluator does"
        beside = ", beside the true value in floats." if self.truth else "; it cannot compute the true value."
        buttons = [("set-start", "Start"), ("set-random", "Random")]
        return element(
            "section",
            element("h2", "Inputs and outputs"),
            element("p", too_large or intro + beside),
            without_script(),
            element("div", self._sliders(), class_="sliders needs-script"),
            live_buttons(buttons),
            table("Outputs of this state", OUTPUT_HEADS, rows, class_="torques"),
            live_said(too_large),
            Markup("") if too_large else self._map(),
            id="values",
        )  # fmt: skip

    def _sliders(self) -> Markup:
        """Return one slider per input word; of a quantity each with what it is called."""
        labels = [("", name) for name in self.names]
        if self.model.provenance.other_quantity:
            said = [label for array in self.model.formats.inputs for label in array.labels]
            labels = [(f"{name} ", label) for name, label in zip(self.names, said, strict=True)]
        return sliders("q", "Inputs", labels, self.words)

    def _map(self) -> Markup:
        shown = [("torque", "value"), ("margin", "margin to the range"), *([("error", "error")] if self.truth else [])]
        outputs = [(str(k), each.name) for k, each in enumerate(self.model.certificate.outputs)]
        axes = [(f"0 {k}", name) for k, name in enumerate(self.names)]
        return live_map(shown, outputs, axes, ("0", "0 0", "0 1" if len(axes) > 1 else ""))


def _outputs_of(model: Model) -> list[Any]:
    return list(model.formats.results.values())


def _short(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
