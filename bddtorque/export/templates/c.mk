# Written by bddtorque: `make` compiles, `make check` runs the self-test, `make size` shows what it takes.
CC ?= cc
CFLAGS ?= -O2
WARNINGS = -std=c99 -pedantic -Wall -Wextra -Werror -ffp-contract=off

all: @objects@

check: @prefix@_selftest
	./@prefix@_selftest

size: @objects@
	size @objects@

@prefix@_selftest: @objects@ @prefix@_selftest.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ @objects@ @prefix@_selftest.o@libraries@

%.o: %.c @prefix@.h
	$(CC) $(WARNINGS) $(CFLAGS) -c -o $@ $<

clean:
	rm -f @objects@ @prefix@_selftest.o @prefix@_selftest

.PHONY: all check size clean
