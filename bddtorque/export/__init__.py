"""A compiled model as C99 source code for other processors, and as logic: `export_c`, `export_pla`, `export_blif`.

export_options    how models are exported: one record per kind of export
c_signature   how a function of words is called
c_names   what robots and joints are called, made safe
integer_ranges    how large every word can get
c_text    numbers, arrays and lines as C writes them
c_helpers the few functions that generated code is written with
c_blocks  tables in their forms
c_inputs  the statements that take the input words
c_sums    exact sums of products, in the arithmetic that is cheapest on a chip
c_steps   the wires of a plan as statements
c_header, c_floats, selftest    the files beside the source
folder    writes them, whole or not at all
c_measuring    what a compiler makes of them
exporter  `export_c`, which puts all of it together
pla       `export_pla`: the tables as Berkeley PLAs
netlist, blif    `export_blif`: the whole model in gates
verilog_stages    a circuit: one register a stage
verilog_sums, verilog_products, verilog_tables, verilog_networks    sums, products and tables as stages
verilog_datapath    the wires of a plan as stages
stage_times    when each stage runs
verilog_cells    multipliers and delay lines, plain and for the ECP5
verilog_text, verilog_testbench, verilog_build    the files
verilog_exporter    `export_verilog`, which puts all of it together
one_bit_steps, one_bit_program    a schedule as steps of one-bit cores, and their code and nodes
one_bit_clocks    the counted machine, clock by clock
one_bit_verilog, one_bit_testbench    cores and machine, and what tries them
one_bit_exporter    `export_one_bit`
"""
