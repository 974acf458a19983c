"""A compiled model as C99 source code for other processors, and as logic.

export_options    how models are exported: one record per kind of export
template_files, templates/    the texts of generated files, with places to fill in
c_names   what robots, joints and units are called, made safe
c_signature, c_call   how a function of words is called, from C and from a program that tries it
integer_ranges    how large every word can get
c_text    numbers, arrays and lines as C writes them
c_blocks  tables in their forms
c_inputs  the statements that take the input words
c_sums    exact sums of products, in the arithmetic that is cheapest on a chip
c_steps, c_float_steps   the wires of a plan as statements
c_source, c_header, c_floats, selftest    the files
folder    writes them, whole or not at all
c_measuring    what a compiler makes of them
exporter  `export_c`, which puts all of it together
c_term    one term alone, as a function of its own
pla       `export_pla`: the tables as Berkeley PLAs
blif      `export_blif`: the whole model in gates
verilog_stages    a circuit: one register a stage
verilog_sums, verilog_tables    sums and tables as stages
verilog_datapath    the wires of a plan as stages, products among them
stage_times    when each stage runs
verilog_cells    multipliers and delay lines, plain and for the ECP5
verilog_text, verilog_module    the circuit, and the files around it
fpga_tools    what makes a bit stream of it
verilog_exporter    `export_verilog`, which puts all of it together
one_bit_steps, one_bit_program    a schedule as steps of one-bit cores, and their code and nodes
one_bit_clocks    the counted machine, clock by clock
one_bit_verilog    cores and machine, and what tries them
one_bit_exporter    `export_one_bit`
"""
