# Written by bddtorque: `make check` simulates, `make lint` lints, `make ice40` and `make ecp5` make a bit stream in
# build/ of @top@.v, which needs few pins. Pins are chosen freely unless PCF or LPF names a file of yours;
# the clock of the ECP5 needs a pin that leads to the clock nets.
# With tools from PyPI (pip install 'bddtorque[fpga]'): make ice40 TOOLS=yowasp-
TOOLS ?=
TOP ?= @top@
ICE40 ?= @ice40_flags@
ECP5 ?= @ecp5_flags@
CLOCK_ECP5 ?= @clock_pin@
MHZ ?= 100
CORE = @core@
SOURCES = $(CORE)@around@
SOURCES_ECP5 = @core_ecp5@@around@
PINS_ICE40 = $(if $(PCF),--pcf $(PCF),--pcf-allow-unconstrained)
PINS_ECP5 = $(if $(LPF),--lpf $(LPF),--lpf build/@name@_ecp5.lpf --lpf-allow-unconstrained)

check: build/@name@_tb
	vvp build/@name@_tb

build/@name@_tb: @name@_tb.v $(CORE)
	mkdir -p build
	iverilog -g2001 -o $@ $^

lint:
	verilator --lint-only -Wall --top-module @name@ $(CORE)@checked@

ice40: build/@name@_ice40.bin
ecp5: build/@name@_ecp5.bit

build/@name@_ice40.json: $(SOURCES)
	mkdir -p build
	$(TOOLS)yosys -q -p "read_verilog $(SOURCES); synth_ice40 -top $(TOP) -json $@"

build/@name@_ice40.bin: build/@name@_ice40.json
	$(TOOLS)nextpnr-ice40 $(ICE40) --json $< --asc build/@name@_ice40.asc --freq $(MHZ) $(PINS_ICE40)
	$(TOOLS)icepack build/@name@_ice40.asc $@

build/@name@_ecp5.json: $(SOURCES_ECP5)
	mkdir -p build
	$(TOOLS)yosys -q -p "read_verilog $(SOURCES_ECP5); hierarchy -top $(TOP); @forget@; synth_ecp5 -top $(TOP) -json $@"

build/@name@_ecp5.bit: build/@name@_ecp5.json
	echo 'LOCATE COMP "clk" SITE "$(CLOCK_ECP5)";' > build/@name@_ecp5.lpf
	$(TOOLS)nextpnr-ecp5 $(ECP5) --json $< --textcfg build/@name@_ecp5.config --freq $(MHZ) $(PINS_ECP5)
	$(TOOLS)ecppack build/@name@_ecp5.config $@

clean:
	rm -rf build

.PHONY: check lint ice40 ecp5 clean
