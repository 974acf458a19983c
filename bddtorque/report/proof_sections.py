"""The parts of a page that say what was compiled and what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from bddtorque.base.sizes import bits_text
from bddtorque.base.version import __version__
from bddtorque.model.model import Model
from bddtorque.proof.certificate import RELATIVE_TO, Certificate
from bddtorque.proof.proved_bound import ROBOT, Parts, ProvedBound
from bddtorque.proof.torque_range import TorqueRange
from bddtorque.report.markup import Markup, details, element, legend, scrolling, table

PART_NAMES = {field.name: field.name.replace("_", " ") for field in fields(Parts)}
BAR_ROW, BAR_LENGTH, BAR_NAME = 26.0, 300.0, 140.0
NAME_LETTERS = 20


def head(model: Model, ranges: Sequence[TorqueRange]) -> Markup:
    """Return the title, the worst-case statement, and the figures that people ask for first."""
    worst = max(model.certificate.bounds)
    bits = model.formats.bits
    inputs = ", ".join(bits_text(bits[name]) for name in ("q", "qd", "qdd"))
    facts = [
        ("joints", f"{model.robot.degrees_of_freedom}"),
        ("bits: torque; q, q̇, q̈", f"{bits_text(bits['tau'])}; {inputs}"),
        ("worst-case error", f"{worst:.3f} units"),
        ("effective bits", effective_text([each.effective_bits for each in ranges])),
    ]
    bound = "less than one unit" if model.certificate.faithful else f"at most {worst:.4f} units, NOT less than one,"
    statement = (
        f"For every input, each compiled torque word is proved to be {bound} of its last bit from the true torque."
    )
    return header(model.robot.name, statement, facts)


def effective_text(bits: Sequence[float]) -> str:
    """Return the fewest and the most effective bits of some outputs."""
    return f"{min(bits):.1f} to {max(bits):.1f}" if len(bits) > 1 else f"{bits[0]:.1f}"


def header(name: str, statement: str, facts: Sequence[tuple[str, str]]) -> Markup:
    """Return a title, a statement, and a few figures."""
    return element(
        "header",
        element("p", "bddtorque report", class_="kicker"),
        element("h1", name),
        element("p", statement, class_="lead"),
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
        *([("robot", model.robot.source)] if model.provenance.kind != "function" and model.robot.source else []),
        ("bddtorque", __version__),
    ]
    rows = [[name, element("td", said, class_="text")] for name, said in facts]
    return element(
        "section",
        element("h2", "File"),
        details("Show digests, sizes and sources", table("The model", ["", ""], rows, class_="file")),
        id="file",
    )


def certificate_section(certificate: Certificate) -> Markup:
    """Return what is proved, by parts, and whether outputs can saturate; of torques also how large they can be."""
    torques, ranges = certificate.torques, certificate.ranges
    ends = [(each.extent.low, each.extent.high) for each in ranges] or [(each.low, each.high) for each in torques]
    rows: list[list[object]] = [
        [shown, *(f"{getattr(torque.parts, name):.3g}" for torque in torques)] for name, shown in PART_NAMES.items()
    ]
    rows += [
        [element("strong", "bound, units of the last bit"), *(element("strong", f"{t.bound:.4f}") for t in torques)],
        ["bound", *(f"{torque.bound_si:.4g} {torque.unit}" for torque in torques)],
        ["one unit of the last bit", *(f"{torque.lsb:.5g} {torque.unit}" for torque in torques)],
        ["faithful: below one unit", *("yes" if torque.faithful else "NO" for torque in torques)],
    ]
    for side, where in enumerate(("below", "above")):
        known = (f"{own[side]:.4g} {torque.unit}" for own, torque in zip(ends, torques, strict=True))
        rows.append([f"no {_what(ranges)} lies {where}", *(said.replace("-", "−") for said in known)])
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
    rows.append(["saturation", *(_saturation(torque) for torque in torques)])
    witnesses = [element("li", f"{t.name}: {_witness(t)}") for t in torques if t.witness is not None]
    return element(
        "section",
        element("h2", "What is proved"),
        element(
            "p",
            f"For every input word, |compiled − true {_what(ranges)}| is at most the bound below. The true "
            f"{_what(ranges)} is {_truth(torques[0])}, clamped to the range of the output words. ",
            element("code", "bddtorque verify"),
            " checks that table, diagrams and digests agree."
            if torques[0].relative_to == "float"
            else " proves it again from the file.",
        ),
        element("figure", _bars(torques), element("figcaption", f"The bound of each {_what(ranges)} by its parts.")),
        details(
            "Show the certificate",
            table("Certificate, in units of the last bit", ["part", *(torque.name for torque in torques)], rows),
        ),
        *(
            [
                element("p", f"Words of states that saturate a {_what(ranges)}:"),
                element("ul", *witnesses, class_="witnesses"),
            ]
            if witnesses
            else []
        ),
        id="proved",
    )


def words_section(model: Model) -> Markup:
    """Return what the words stand for."""
    if model.provenance.kind == "robot":
        symbols = (("q", "q"), ("qd", "q̇"), ("qdd", "q̈"), ("tau", "τ"))
        words = {
            f"{symbol}{place} {model.formats.q.labels[place - 1]}": word
            for quantity, symbol in symbols
            for place, word in enumerate(getattr(model.formats, quantity), 1)
        }
    else:
        words = {**model.formats.words, **model.formats.results}
    rows = []
    for name, word in words.items():
        low, high = word.span
        kind = "angle, wraps" if word.kind == "angle" else "range, saturates"
        said = [f"{value:.6g}" for value in (word.lsb, low, high)]
        rows.append([name, kind, str(word.bits), *said, word.unit])
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


def _what(ranges: Sequence[TorqueRange]) -> str:
    return "torque" if ranges else "value"


def _truth(proved: ProvedBound) -> str:
    """Say what an output is compared with."""
    what = {
        ROBOT: "the real-number function of the robot's parameters at the exact values of the input words",
    }
    return what.get(proved.relative_to) or RELATIVE_TO[proved.relative_to]


def _witness(proved: ProvedBound) -> str:
    assert proved.witness is not None
    if proved.relative_to != ROBOT:
        return str(proved.witness)
    q, qd, qdd = (list(each) for each in proved.witness)
    return f"q {q}, q̇ {qd}, q̈ {qdd}"


def _bars(torques: tuple[ProvedBound, ...]) -> Markup:
    """Return the bounds as bars of parts beside the line of one unit."""
    longest = max(1.0, *(torque.bound for torque in torques))
    scale = BAR_LENGTH / longest
    shapes: list[Markup] = []
    for k, torque in enumerate(torques):
        y, x = k * BAR_ROW + 5.0, BAR_NAME
        name = torque.name if len(torque.name) <= NAME_LETTERS else f"{torque.name[: NAME_LETTERS - 1]}…"
        shapes.append(element("text", name, x=BAR_NAME - 8, y=y + 12, class_="bar-name"))
        for place, (part, shown) in enumerate(PART_NAMES.items()):
            size = getattr(torque.parts, part) * scale
            if size > 0.05:
                title = element("title", f"{torque.name}, {shown}: {getattr(torque.parts, part):.4g}")
                rect = element("rect", x=x, y=y, width=size, height=16.0, class_=f"part part{place}")
                shapes.append(element("g", title, rect))
            x += size
        shapes.append(
            element("text", f"{torque.bound:.3f}", x=BAR_NAME + BAR_LENGTH + 10, y=y + 12, class_="bar-value")
        )
    height = len(torques) * BAR_ROW + 22
    end = BAR_NAME + scale
    shapes.append(element("line", x1=end, x2=end, y1=0.0, y2=height - 18, class_="one-unit"))
    shapes.append(element("text", "one unit", x=end, y=height - 5, class_="one-unit-name"))
    width = BAR_NAME + BAR_LENGTH + 56
    bounds = ", ".join(f"{torque.name} {torque.bound:.3f}" for torque in torques)
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
        if any(getattr(torque.parts, part) * scale > 0.05 for torque in torques)
    ]
    return Markup(scrolling(picture, "Bounds by their parts") + legend(drawn))


def _saturation(torque: ProvedBound) -> str:
    return {"cannot": "cannot", "can": "CAN: see below", "not excluded": "not excluded"}[torque.saturation]
