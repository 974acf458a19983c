"""A compiled model as one HTML page to look at, move and check: `write_report`.

markup          HTML and SVG as text, everything escaped
arm_picture, plan_picture, diagram_picture    pictures
compared_states the state that a page begins with, states that are compared with true values, and what these come from
model_tables    rows of tables, which a terminal shows too
script_data     what the page's script is given, tables in few bytes
live_section, proof_sections, plan_sections    the parts of the page
page            puts them together, with the script and the style in `page/`; pictures as files of their own
term_facts      the terms of an arm one by one
report          `write_report`
"""

from bddtorque.report.report import Report, write_report

__all__ = ["Report", "write_report"]
