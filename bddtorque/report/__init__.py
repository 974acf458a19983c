"""A compiled robot as one HTML page to look at, move and check: `write_report`.

markup          HTML and SVG as text, everything escaped
view            the state a page begins with, and from where the arm is seen
packing         tables in few bytes
script_data     what the page's script is given
arm_picture, plan_picture, diagram_picture, layered    pictures
live_section, proof_sections, cost_section, block_sections    the parts of the page
page            puts them together, with the script and the style in `page/`
report          `write_report`
"""

from bddtorque.report.report import Report, write_report

__all__ = ["Report", "write_report"]
