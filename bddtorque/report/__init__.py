"""A compiled model as one HTML page to look at, move and check: `write_report`.

markup          HTML and SVG as text, everything escaped
compared_states the state that a page begins with, and states that are compared with true values
page_truth      what the page's script computes true values from
view            where the joints of an arm are, and from where it is seen
packing         tables in few bytes
script_data     what the page's script is given
arm_picture, plan_picture, diagram_picture, layered    pictures
live_section, proof_sections, cost_section, block_sections    the parts of the page
page            puts them together, with the script and the style in `page/`
report          `write_report`
"""

from bddtorque.report.report import Report, write_report

__all__ = ["Report", "write_report"]
