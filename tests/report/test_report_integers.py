"""Pages of models in machine integers: products and sums, rounded as the plan has them, the words of the evaluator."""

import json

import pytest
from browser import needs_chromium, page_words
from compiled import arm, compiled, reference
from report_pages import read, wild_states

from bddtorque.report.report import report_page
from bddtorque.report.script_data import plan_data


def wanted(model, states):
    """Return the words of the plain interpreter."""
    held = [words.held(each) for words, each in zip(model.formats.inputs, states, strict=True)]
    return reference(model, held).tolist()


def test_what_stands_in_a_page_of_integers():
    """The plan with the bits of its products and sums, the one table of a cosine, and no terms of tables."""
    model = arm(8, target="integer", chip="cortex-m0")
    page, report = report_page(model)
    reader = read(page)
    sections = ["live", "proved", "costs", "plan", "blocks", "words", "file"]
    assert [each.attributes["id"] for each in reader.root.all("section")] == sections
    assert "planned for chip cortex-m0" in reader.identifiers["plan"].whole_text
    assert "up to 32" in reader.identifiers["plan"].whole_text
    assert report.live and max(report.largest_found) <= max(model.certificate.bounds)


@needs_chromium
@pytest.mark.parametrize("bits", [8, 24])
def test_the_page_gives_the_words_of_the_evaluator(opened, bits):
    """At 24 bits in BigInt: products go beyond 2^53."""
    page = opened(report_page(arm(8, target="integer", chip="cortex-m0"))[0])
    assert page.run("document.documentElement.className") == "script ready"
    said = page.run("document.getElementById('live-said').textContent")
    assert "On all 96 test states the page computes the evaluator's words" in said
    model = compiled("planar2r", bits=bits, input_bits=min(bits, 12), target="integer", chip="cortex-m0")
    data = plan_data(model.plan, model.tables, {name: k for k, name in enumerate(model.formats.words)})
    assert (bits == 24) == any(wire[0] in ("product", "sum") and wire[1] for wire in data["wires"])
    tables = [{"widths": list(table.input_widths), "words": table.values.tolist()} for table in model.tables]
    page.run(f"bddtorque.plan = new bddtorque.Plan({json.dumps(data)}, {json.dumps(tables)})")
    states = wild_states(model, 200)
    assert page_words(page, states) == wanted(model, states)
