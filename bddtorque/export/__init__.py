"""A compiled model as C99 source code for other processors, and as logic.

export_options    how models are exported: one record per kind of export
folder    folders of generated files, and their templates (templates/)
c_text    numbers, arrays, lines and names as C writes them
c_call    how a function of words is called, from C and from a program that tries it, and its header
c_blocks  tables in their forms
c_sums    exact sums of products, in the arithmetic that is cheapest on a chip
c_steps, c_float_steps   the wires of a plan as statements
c_source, selftest    the other files
c_exporter    `export_c`, which puts all of it together, and what a compiler makes of it
c_term    one term alone, as a function of its own
logic     `export_pla`, the tables as Berkeley PLAs, and `export_blif`, the whole model in gates
verilog_stages    a circuit: one register a stage, and when each runs
verilog_sums, verilog_tables    sums and tables as stages
verilog_datapath    the wires of a plan as stages, products among them
verilog_text    the circuit
fpga_tools    what makes a bit stream of it
verilog_exporter    `export_verilog`, which puts all of it together, and the files around the circuit
one_bit_steps     a schedule as steps of one-bit cores
one_bit_program   their code and nodes, and the counted machine, clock by clock
one_bit_verilog   cores and machine, and what tries them
one_bit_exporter  `export_one_bit`
"""
