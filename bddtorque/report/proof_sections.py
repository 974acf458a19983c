"""The parts of a page that say what was compiled and what is proved of it."""

from __future__ import annotations

from dataclasses import fields

from bddtorque.base.shown_text import bits_text
from bddtorque.base.version import __version__
from bddtorque.model.model import Model
from bddtorque.proof.certificate import RELATIVE_TO
from bddtorque.proof.proved_bound import ROBOT, Parts, ProvedBound
from bddtorque.report.compared_states import ComparedStates
from bddtorque.report.markup import Markup, details, element, legend, scrolling, section, table
from bddtorque.report.model_tables import WORD_HEADS, WORDS, effective_bits_of, word_rows

PART_NAMES = {field.name: field.name.replace("_", " ") for field in fields(Parts)}
BAR_ROW, BAR_LENGTH, BAR_NAME = 26.0, 300.0, 140.0
NAME_LETTERS = 20
SATURATION = {"cannot": "cannot", "can": "CAN: see below", "not excluded": "not excluded"}


def head(states: ComparedStates) -> Markup:
    """Return the title, the worst-case statement, and the figures that people ask for first."""
    model, bits = states.model, effective_bits_of(states.model)
    certificate, worst = model.certificate, max(model.certificate.bounds)
    inputs, outputs = (bits_text([word.bits for word in words]) for words in (states.words, states.outputs))
    names = [array.name for array in model.formats.inputs]
    robot = model.provenance.robot
    facts = [
        *([] if robot is None else [("joints", f"{robot.degrees_of_freedom}")]),
        ("inputs", ", ".join(names) if len(names) <= 6 else f"{names[0]} … {names[-1]}"),
        ("bits: outputs; inputs", f"{outputs}; {inputs}"),
        ("worst-case error", f"{worst:.3f} units"),
        ("effective bits", f"{min(bits):.1f} to {max(bits):.1f}" if len(bits) > 1 else f"{bits[0]:.1f}"),
    ]
    bound = "less than one unit" if certificate.faithful else f"at most {worst:.4f} units, NOT less than one,"
    each = "the compiled word is" if len(bits) == 1 else "each compiled word is"
    stated = any(output.relative_to == "float" for output in certificate.outputs)
    against = "float64 value that the function returned" if stated else "true value"
    return element(
        "header",
        element("p", "bddtorque report", class_="kicker"),
        element("h1", model.provenance.title),
        element(
            "p", f"For every input, {each} proved to be {bound} of its last bit from the {against}.", class_="lead"
        ),
        element(
            "dl", *(element("div", element("dt", name), element("dd", said)) for name, said in facts), class_="facts"
        ),
    )


def file_section(model: Model) -> Markup:
    """Return the origin of the model: digests, sizes, version, and the source of the robot's numbers."""
    figures = model.summary()
    facts: list[tuple[str, object]] = [
        ("digest", element("code", model.digest)),
        *([("digest of the diagrams", element("code", model.diagram_digest))] if model.diagrams else []),
        ("source, target", f"{model.plan.source}, {model.plan.target}"),
    ]
    if model.plan.in_floats:
        operations = sum(figures[kind] for kind in ("sines", "products", "sums", "fused"))
        facts += [
            ("precision", f"{model.plan.floats.name}: {model.plan.floats.bits} bits"),
            ("operations in floats", f"{operations:,}"),
        ]
    facts += [
        ("tables", f"{figures['blocks']:,} with {figures['rows']:,} rows"),
        *([("diagram nodes", f"{figures['nodes']:,}")] if model.diagrams else []),
        *([("robot", robot.source)] if (robot := model.provenance.robot) is not None and robot.source else []),
        ("bddtorque", __version__),
    ]
    rows = [[name, element("td", said, class_="text")] for name, said in facts]
    folded = details("Show digests, sizes and sources", table("The model", ["", ""], rows, class_="file"))
    return section("file", "File", folded)


def certificate_section(model: Model) -> Markup:
    """Return the proved bounds by parts, the range of each output, and whether it can saturate."""
    outputs, ranges = model.certificate.outputs, model.certificate.ranges
    what = "torque" if ranges else "value"
    ends = [(each.extent.low, each.extent.high) for each in ranges] or [(each.low, each.high) for each in outputs]
    rows: list[list[object]] = [
        [shown, *(f"{getattr(output.parts, name):.3g}" for output in outputs)] for name, shown in PART_NAMES.items()
    ]
    strong = (element("strong", f"{output.bound:.4f}") for output in outputs)
    rows += [
        [element("strong", "bound, units of the last bit"), *strong],
        ["bound", *(f"{output.bound_si:.4g} {output.unit}" for output in outputs)],
        ["one unit of the last bit", *(f"{output.lsb:.5g} {output.unit}" for output in outputs)],
        ["faithful: below one unit", *("yes" if output.faithful else "NO" for output in outputs)],
    ]
    for side, where in enumerate(("below", "above")):
        known = (f"{own[side]:.4g} {output.unit}" for own, output in zip(ends, outputs, strict=True))
        rows.append([f"no {what} lies {where}", *(said.replace("-", "−") for said in known)])
    if ranges:
        rows.append(["range of the words", *(f"{each.shown_range()} {each.unit}".replace("-", "−") for each in ranges)])
        rows.append(["largest torque", *(f"{each.extent} {each.unit}" for each in ranges)])
        if ranges[0].within_limits is not None:
            limited = (f"{each.within_limits} {each.unit}" for each in ranges)
            rows.append(["largest torque within joint limits", *limited])
        rows.append(["effective bits: log₂(largest / bound)", *(f"{each.effective_bits:.1f}" for each in ranges)])
    rows.append(["saturation", *(SATURATION[output.saturation] for output in outputs)])
    witnesses = []
    for output in outputs:
        if output.witness is not None:
            named = zip(model.formats.inputs, output.witness, strict=True)
            words = ", ".join(f"{array.name} {list(state)}" for array, state in named)
            witnesses.append(element("li", f"{output.name}: {words}"))
    if witnesses:
        intro = element("p", f"Words of states that saturate a {what}:")
        witnesses = [intro, element("ul", *witnesses, class_="witnesses")]
    claim = (
        f"For every input word, |compiled − true {what}| is at most the bound below. The true "
        f"{what} is {_truth(outputs[0])}, clamped to the range of the output words. "
    )
    again = " proves it again from the file."
    if outputs[0].relative_to == "float":
        again = " checks that table, diagrams and digests agree."
    certificate = table("Certificate, in units of the last bit", ["part", *(output.name for output in outputs)], rows)
    return section(
        "proved",
        "What is proved",
        element("p", claim, element("code", "bddtorque verify"), again),
        element("figure", _bars(outputs), element("figcaption", f"The bound of each {what} by its parts.")),
        details("Show the certificate", certificate),
        *witnesses,
    )


def words_section(model: Model) -> Markup:
    """Return the meaning of the words."""
    rows = word_rows(model)
    what = element("p", "What the two's-complement words of this model stand for.")
    return section("words", "Words", what, details(f"Show all {len(rows)} words", table(WORDS, WORD_HEADS, rows)))


def _truth(proved: ProvedBound) -> str:
    """Say what an output is compared with."""
    of_robot = "the real-number function of the robot's parameters at the exact values of the input words"
    return {ROBOT: of_robot, **RELATIVE_TO}[proved.relative_to]


def _bars(outputs: tuple[ProvedBound, ...]) -> Markup:
    """Return the bounds as bars of parts beside the line of one unit."""
    scale = BAR_LENGTH / max(1.0, *(output.bound for output in outputs))
    shapes: list[Markup] = []
    drawn: dict[str, str] = {}
    for k, output in enumerate(outputs):
        y, x = k * BAR_ROW + 5.0, BAR_NAME
        name = output.name if len(output.name) <= NAME_LETTERS else f"{output.name[: NAME_LETTERS - 1]}…"
        shapes.append(element("text", name, x=BAR_NAME - 8, y=y + 12, class_="bar-name"))
        for place, (part, shown) in enumerate(PART_NAMES.items()):
            units = getattr(output.parts, part)
            if units * scale > 0.05:
                title = element("title", f"{output.name}, {shown}: {units:.4g}")
                rect = element("rect", x=x, y=y, width=units * scale, height=16.0, class_=f"part part{place}")
                shapes.append(element("g", title, rect))
                drawn[f"part{place}"] = shown
            x += units * scale
        value = element("text", f"{output.bound:.3f}", x=BAR_NAME + BAR_LENGTH + 10, y=y + 12, class_="bar-value")
        shapes.append(value)
    height = len(outputs) * BAR_ROW + 22
    end = BAR_NAME + scale
    shapes.append(element("line", x1=end, x2=end, y1=0.0, y2=height - 18, class_="one-unit"))
    shapes.append(element("text", "one unit", x=end, y=height - 5, class_="one-unit-name"))
    bounds = ", ".join(f"{output.name} {output.bound:.3f}" for output in outputs)
    picture = element(
        "svg",
        *shapes,
        viewbox=f"0 0 {BAR_NAME + BAR_LENGTH + 56:g} {height:g}",
        class_="parts",
        role="img",
        aria_label=f"Bounds in units of the last bit: {bounds}",
    )
    return Markup(scrolling(picture, "Bounds by their parts") + legend(sorted(drawn.items())))
