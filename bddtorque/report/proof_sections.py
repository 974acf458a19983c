"""The parts of a page that say what was compiled and what is proved of it."""

from __future__ import annotations

from dataclasses import fields

from bddtorque.base.sizes import bits_text
from bddtorque.base.version import __version__
from bddtorque.model.model import Model
from bddtorque.proof.certificate import RELATIVE_TO
from bddtorque.proof.proved_bound import ROBOT, Parts, ProvedBound
from bddtorque.report.compared_states import ComparedStates
from bddtorque.report.markup import Markup, details, element, legend, scrolling, table

PART_NAMES = {field.name: field.name.replace("_", " ") for field in fields(Parts)}
BAR_ROW, BAR_LENGTH, BAR_NAME = 26.0, 300.0, 140.0
NAME_LETTERS = 20


def head(states: ComparedStates) -> Markup:
    """Return the title, the worst-case statement, and the figures that people ask for first."""
    model, bits = states.model, states.effective_bits
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
    """Return where the model comes from: digests, sizes, version, and the source of the robot's numbers."""
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
    return element(
        "section",
        element("h2", "File"),
        details("Show digests, sizes and sources", table("The model", ["", ""], rows, class_="file")),
        id="file",
    )


def certificate_section(model: Model) -> Markup:
    """Return what is proved, by parts, and whether outputs can saturate; of outputs also how large they can be."""
    outputs, ranges = model.certificate.outputs, model.certificate.ranges
    what = "torque" if ranges else "value"
    ends = [(each.extent.low, each.extent.high) for each in ranges] or [(each.low, each.high) for each in outputs]
    rows: list[list[object]] = [
        [shown, *(f"{getattr(output.parts, name):.3g}" for output in outputs)] for name, shown in PART_NAMES.items()
    ]
    rows += [
        [
            element("strong", "bound, units of the last bit"),
            *(element("strong", f"{output.bound:.4f}") for output in outputs),
        ],
        ["bound", *(f"{output.bound_si:.4g} {output.unit}" for output in outputs)],
        ["one unit of the last bit", *(f"{output.lsb:.5g} {output.unit}" for output in outputs)],
        ["faithful: below one unit", *("yes" if output.faithful else "NO" for output in outputs)],
    ]
    for side, where in enumerate(("below", "above")):
        known = (f"{own[side]:.4g} {output.unit}" for own, output in zip(ends, outputs, strict=True))
        rows.append([f"no {what} lies {where}", *(said.replace("-", "−") for said in known)])
    if ranges:
        rows += [
            ["range of the words", *(f"{each.shown_range()} {each.unit}".replace("-", "−") for each in ranges)],
            ["largest torque", *(f"{each.extent} {each.unit}" for each in ranges)],
        ]
        if ranges[0].within_limits is not None:
            rows.append(
                ["largest torque within joint limits", *(f"{each.within_limits} {each.unit}" for each in ranges)]
            )
        rows += [
            ["effective bits: log₂(largest / bound)", *(f"{each.effective_bits:.1f}" for each in ranges)],
        ]
    rows.append(["saturation", *(_saturation(output) for output in outputs)])
    witnesses = []
    for output in outputs:
        if output.witness is not None:
            named = zip(model.formats.inputs, output.witness, strict=True)
            words = ", ".join(f"{array.name} {list(state)}" for array, state in named)
            witnesses.append(element("li", f"{output.name}: {words}"))
    return element(
        "section",
        element("h2", "What is proved"),
        element(
            "p",
            f"For every input word, |compiled − true {what}| is at most the bound below. The true "
            f"{what} is {_truth(outputs[0])}, clamped to the range of the output words. ",
            element("code", "bddtorque verify"),
            " checks that table, diagrams and digests agree."
            if outputs[0].relative_to == "float"
            else " proves it again from the file.",
        ),
        element("figure", _bars(outputs), element("figcaption", f"The bound of each {what} by its parts.")),
        details(
            "Show the certificate",
            table("Certificate, in units of the last bit", ["part", *(output.name for output in outputs)], rows),
        ),
        *(
            [
                element("p", f"Words of states that saturate a {what}:"),
                element("ul", *witnesses, class_="witnesses"),
            ]
            if witnesses
            else []
        ),
        id="proved",
    )


def words_section(model: Model) -> Markup:
    """Return what the words stand for."""
    rows = []
    for array in model.formats.arrays:
        for name, label, word in zip(array.word_names, array.labels, array, strict=True):
            kind = "angle, wraps" if word.kind == "angle" else "range, saturates"
            said = [f"{value:.6g}" for value in (word.lsb, *word.span)]
            shown = label if label == name else f"{name} {label}"
            rows.append([shown, kind, str(word.bits), *said, word.unit])
    return element(
        "section",
        element("h2", "Words"),
        element("p", "What the two's-complement words of this model stand for."),
        details(
            f"Show all {len(rows)} words",
            table("Words", ["word", "kind", "bits", "one unit", "from", "to", "unit"], rows),
        ),
        id="words",
    )


def _truth(proved: ProvedBound) -> str:
    """Say what an output is compared with."""
    of_robot = "the real-number function of the robot's parameters at the exact values of the input words"
    return {ROBOT: of_robot, **RELATIVE_TO}[proved.relative_to]


def _bars(outputs: tuple[ProvedBound, ...]) -> Markup:
    """Return the bounds as bars of parts beside the line of one unit."""
    longest = max(1.0, *(output.bound for output in outputs))
    scale = BAR_LENGTH / longest
    shapes: list[Markup] = []
    for k, output in enumerate(outputs):
        y, x = k * BAR_ROW + 5.0, BAR_NAME
        name = output.name if len(output.name) <= NAME_LETTERS else f"{output.name[: NAME_LETTERS - 1]}…"
        shapes.append(element("text", name, x=BAR_NAME - 8, y=y + 12, class_="bar-name"))
        for place, (part, shown) in enumerate(PART_NAMES.items()):
            size = getattr(output.parts, part) * scale
            if size > 0.05:
                title = element("title", f"{output.name}, {shown}: {getattr(output.parts, part):.4g}")
                rect = element("rect", x=x, y=y, width=size, height=16.0, class_=f"part part{place}")
                shapes.append(element("g", title, rect))
            x += size
        shapes.append(
            element("text", f"{output.bound:.3f}", x=BAR_NAME + BAR_LENGTH + 10, y=y + 12, class_="bar-value")
        )
    height = len(outputs) * BAR_ROW + 22
    end = BAR_NAME + scale
    shapes.append(element("line", x1=end, x2=end, y1=0.0, y2=height - 18, class_="one-unit"))
    shapes.append(element("text", "one unit", x=end, y=height - 5, class_="one-unit-name"))
    width = BAR_NAME + BAR_LENGTH + 56
    bounds = ", ".join(f"{output.name} {output.bound:.3f}" for output in outputs)
    picture = element(
        "svg",
        *shapes,
        viewbox=f"0 0 {width:g} {height:g}",
        class_="parts",
        role="img",
        aria_label=f"Bounds in units of the last bit: {bounds}",
    )
    drawn = [
        (f"part{place}", shown)
        for place, (part, shown) in enumerate(PART_NAMES.items())
        if any(getattr(output.parts, part) * scale > 0.05 for output in outputs)
    ]
    return Markup(scrolling(picture, "Bounds by their parts") + legend(drawn))


def _saturation(output: ProvedBound) -> str:
    return {"cannot": "cannot", "can": "CAN: see below", "not excluded": "not excluded"}[output.saturation]
