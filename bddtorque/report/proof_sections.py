"""The parts of a page that say what was compiled and what is proved of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from bddtorque.base.version import __version__
from bddtorque.compiler.range_facts import TorqueRange
from bddtorque.model.model import Model
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.proof.certificate import Certificate, Parts, ProvedBound
from bddtorque.report.markup import Markup, element, legend, scrolling, table

PART_NAMES = {field.name: field.name.replace("_", " ") for field in fields(Parts)}
BAR_ROW, BAR_LENGTH, BAR_NAME = 26.0, 460.0, 130.0
NAME_LETTERS = 18


def head(model: Model) -> Markup:
    """Return the title and the figures that people ask for first."""
    worst = max(model.certificate.bounds)
    bits = model.source.bits
    facts = [
        ("joints", f"{model.robot.degrees_of_freedom}"),
        ("bits of a torque", _joined(bits["tau"])),
        ("bits of q, q̇, q̈", ", ".join(_joined(bits[name]) for name in ("q", "qd", "qdd"))),
        ("proved bound, units", f"{worst:.4f}"),
        *_made_of(model),
        ("source, target", f"{model.plan.source}, {model.plan.target}"),
    ]
    faithful = (
        "Every torque word is proved to be less than one unit of its last bit from the true torque, for every input "
        "word there is."
        if model.certificate.faithful
        else f"Every torque word is proved to be within {worst:.4f} units of its last bit of the true torque, for "
        "every input word there is. That is not below one unit: NOT faithful."
    )
    return element(
        "header",
        element("p", "bddtorque report", class_="kicker"),
        element("h1", model.robot.name),
        element("p", faithful, class_="lead"),
        element(
            "dl", *(element("div", element("dt", name), element("dd", said)) for name, said in facts), class_="facts"
        ),
        element("p", "Digest ", element("code", model.digest), class_="digest"),
        element(
            "p",
            *(("Of diagrams ", element("code", model.diagram_digest), " · ") if model.diagrams else ()),
            f"bddtorque {__version__}",
            class_="digest",
        ),
        element("p", model.robot.source, class_="source") if model.robot.source else Markup(""),
    )


def _made_of(model: Model) -> list[tuple[str, str]]:
    """Return the size of a model: its tables and diagrams, or its operations in floats."""
    figures = model.summary()
    tables = f"{figures['blocks']:,}"
    if isinstance(model.plan, FloatPlan):
        operations = sum(figures[kind] for kind in ("sines", "products", "sums", "fused"))
        return [
            ("precision", f"{model.plan.precision.name}: {model.plan.precision.bits} bits"),
            ("operations in floats", f"{operations:,}"),
            ("tables of friction", tables),
        ]
    return [("tables", tables), ("rows of tables", f"{figures['rows']:,}"), ("diagram nodes", f"{figures['nodes']:,}")]


def certificate_section(certificate: Certificate, ranges: Sequence[TorqueRange]) -> Markup:
    """Return what is proved, by parts, and whether torques can saturate."""
    torques = certificate.torques
    rows: list[list[object]] = [
        [shown, *(f"{getattr(torque.parts, name):.3g}" for torque in torques)] for name, shown in PART_NAMES.items()
    ]
    rows += [
        [element("strong", "bound, units of the last bit"), *(element("strong", f"{t.bound:.4f}") for t in torques)],
        ["bound", *(f"{torque.bound_si:.4g} {torque.unit}" for torque in torques)],
        ["one unit of the last bit", *(f"{torque.lsb:.5g} {torque.unit}" for torque in torques)],
        ["faithful: below one unit", *("yes" if torque.faithful else "NO" for torque in torques)],
        ["no torque lies below", *(f"{torque.low:.4g} {torque.unit}".replace("-", "−") for torque in torques)],
        ["no torque lies above", *(f"{torque.high:.4g} {torque.unit}".replace("-", "−") for torque in torques)],
        ["range of the words", *(f"{each.shown_range()} {each.unit}".replace("-", "−") for each in ranges)],
        ["largest torque", *(f"{each.reached:.4g} to {each.at_most:.4g} {each.unit}" for each in ranges)],
        ["effective bits: log₂(largest / bound)", *(f"{each.effective_bits:.1f}" for each in ranges)],
        ["saturation", *(_saturation(torque) for torque in torques)],
    ]
    witnesses = [
        element("li", f"{t.joint}: q {list(t.witness[0])}, q̇ {list(t.witness[1])}, q̈ {list(t.witness[2])}")
        for t in torques
        if t.witness is not None
    ]
    return element(
        "section",
        element("h2", "What is proved"),
        element(
            "p",
            "|compiled word − true torque|, in units of the torque's last bit, is at most the bound below for every "
            "input word. The true torque is the real-number function of the robot's parameters at the exact values of "
            "the input words, clamped to the torque's range. ",
            element("code", "bddtorque verify"),
            " proves it again from the file alone.",
        ),
        element(
            "figure", _bars(torques), element("figcaption", "The bound of each torque by its parts, up to one unit.")
        ),
        table("Certificate, in units of the last bit", ["part", *(torque.joint for torque in torques)], rows),
        *(
            [element("p", "Words of states that saturate a torque:"), element("ul", *witnesses, class_="witnesses")]
            if witnesses
            else []
        ),
        id="proved",
    )


def words_section(model: Model) -> Markup:
    """Return what the words stand for."""
    rows = []
    for quantity, symbol in (("q", "q"), ("qd", "q̇"), ("qdd", "q̈"), ("tau", "τ")):
        for place, word in enumerate(getattr(model.formats, quantity), 1):
            low, high = word.span
            kind = "angle, wraps" if word.kind == "angle" else "range, saturates"
            joint = model.formats.joint_names[place - 1]
            said = [f"{value:.6g}" for value in (word.lsb, low, high)]
            rows.append([f"{symbol}{place} {joint}", kind, str(word.bits), *said, word.unit])
    return element(
        "section",
        element("h2", "Words"),
        element("p", "What the words of this model stand for: two's complement numbers, of so many bits."),
        element(
            "details",
            element("summary", f"All {len(rows)} words"),
            table("Words", ["word", "kind", "bits", "one unit", "from", "to", "unit"], rows),
        ),
        id="words",
    )


def _bars(torques: tuple[ProvedBound, ...]) -> Markup:
    """Return the bounds as bars of parts beside the line of one unit."""
    longest = max(1.0, *(torque.bound for torque in torques))
    scale = BAR_LENGTH / longest
    shapes: list[Markup] = []
    for k, torque in enumerate(torques):
        y, x = k * BAR_ROW + 5.0, BAR_NAME
        name = torque.joint if len(torque.joint) <= NAME_LETTERS else f"{torque.joint[: NAME_LETTERS - 1]}…"
        shapes.append(element("text", name, x=BAR_NAME - 8, y=y + 12, class_="bar-name"))
        for place, (part, shown) in enumerate(PART_NAMES.items()):
            size = getattr(torque.parts, part) * scale
            if size > 0.05:
                title = element("title", f"{torque.joint}, {shown}: {getattr(torque.parts, part):.4g}")
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
    bounds = ", ".join(f"{torque.joint} {torque.bound:.3f}" for torque in torques)
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


def _joined(bits: list[int]) -> str:
    return str(bits[0]) if len(set(bits)) == 1 else "/".join(map(str, bits))
