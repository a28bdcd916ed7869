# SPDX-License-Identifier: GPL-2.0-or-later
#
# mmperf: one Makefile, non-recursive. `make help` lists the targets.
#
#   O=build            where everything that is made goes
#   CC=gcc             or clang
#   SAN=               e.g. address,undefined (use another O= with it)
#   CFLAGS, LDFLAGS    yours, added last
#   DESTDIR, PREFIX    for install and uninstall

MAKEFLAGS += --no-builtin-rules
O ?= build
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# The environment cannot switch what the flags below already say.
version := $(shell cat VERSION)

warnings := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wformat=2 \
	-Wundef -Werror
packages := libgit2 libcurl jansson libpq gsl zlib
our_cflags := -std=gnu17 -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer $(warnings) -I. -I$(O)/gen \
	-DMMPERF_VERSION='"$(version)"' $(shell $(PKG_CONFIG) --cflags $(packages))
our_libs := $(shell $(PKG_CONFIG) --libs $(packages)) -lm
our_ldflags :=
ifneq ($(SAN),)
our_cflags += -fsanitize=$(SAN) -fno-sanitize-recover=all
our_ldflags += -fsanitize=$(SAN)
endif

compile = $(CC) $(our_cflags) $(CFLAGS)
link = $(CC) $(our_ldflags) $(LDFLAGS)

# What is there: a new .c file in a room needs no edit here ----------------------------------------

rooms := base stats db runner runner/machines runner/power runner/consoles bisector reports reports/formats cli
mains := runner/main.c bisector/main.c reports/main.c cli/main.c
sources := $(filter-out $(mains),$(wildcard $(addsuffix /*.c,$(rooms))))
schema := $(sort $(wildcard db/schema/*.sql))
objects := $(sources:%.c=$(O)/%.o) $(O)/gen/schema.o
archive := $(O)/libmmperf.a
programs := $(addprefix $(O)/,mmperf mmperf-runner mmperf-bisector mmperf-reporter)
unit_tests := $(patsubst tests/unit/%.c,$(O)/tests/%,$(wildcard tests/unit/test_*.c))
fuzzers := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz_%,$(wildcard tests/fuzz/*.c))

.PHONY: all
include bench/bench.mk

all: $(programs) $(bench_programs) ## build everything

# Rules --------------------------------------------------------------------------------------------

# Rewritten only when the command line differs: a change of flags rebuilds, nothing else does.
$(O)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(compile) $(link))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(compile) $(link))' > $@
FORCE:

$(O)/%.o: %.c $(O)/.flags
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(compile) -MMD -MP -c $< -o $@

$(O)/gen/schema.c: $(schema) db/schema tools/embed-schema
	@mkdir -p $(@D)
	@echo "  GEN  $@"
	@sh tools/embed-schema $(schema) > $@

$(O)/gen/schema.o: $(O)/gen/schema.c $(O)/.flags
	@$(compile) -MMD -MP -c $< -o $@

$(archive): $(objects)
	@echo "  AR   $@"
	@rm -f $@
	@ar rcs $@ $(objects)

$(O)/mmperf: $(O)/cli/main.o $(archive)
$(O)/mmperf-runner: $(O)/runner/main.o $(archive)
$(O)/mmperf-bisector: $(O)/bisector/main.o $(archive)
$(O)/mmperf-reporter: $(O)/reports/main.o $(archive)
$(programs):
	@echo "  LINK $@"
	@$(link) $^ $(our_libs) -o $@

# Unit tests link the shipped objects, and the pure parts of bench.
$(O)/tests/%: tests/unit/%.c $(archive) $(bench_test_archive) $(O)/.flags
	@mkdir -p $(@D)
	@echo "  TEST $@"
	@$(compile) -MMD -MP -MF $@.d $< $(our_ldflags) $(LDFLAGS) \
		$(bench_test_archive) $(archive) -lcmocka $(our_libs) -o $@

$(O)/tests/fuzz_%: tests/fuzz/%.c $(archive) $(O)/.flags
	@mkdir -p $(@D)
	@echo "  FUZZ $@"
	@$(compile) -fsanitize=fuzzer -MMD -MP -MF $@.d $< $(our_ldflags) $(LDFLAGS) $(archive) $(our_libs) -o $@

-include $(objects:.o=.d) $(mains:%.c=$(O)/%.d) $(addsuffix .d,$(unit_tests))

# What a person runs -------------------------------------------------------------------------------

.PHONY: setup demo check check-all check-unit check-e2e check-kernel fuzz bench lint format install uninstall clean help bench-measure bench-decide bench-decide-full bench-metal bench-metal-full

# As many at a time as there are CPUs, where the caller does not say.
side_by_side = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

setup: ## install what is needed (as root: Debian packages and users)
	@sh deploy/setup

demo: setup ## the main job on real kernels, from nothing to the mail
	@$(MAKE) --no-print-directory $(side_by_side) all
	@sh deploy/demo --build $(O) $(DEMO_ARGS)

.PHONY: demo-metal
demo-metal: setup ## a bare-metal machine, made of QEMU: checked, measured, and brought back
	@$(MAKE) --no-print-directory $(side_by_side) all
	@sh deploy/demo-metal --build $(O) $(DEMO_ARGS)

check: setup ## set up, build, and run the tests
	@$(MAKE) --no-print-directory $(side_by_side) all tests
	@O=$(O) sh tests/run $(CHECK_ARGS)

check-all: ## the same with the slow ones: a second plant, more kernels (Debian's 6.1), clean rebuilds, bare metal and how it fails
	@CHECK_ALL=1 $(MAKE) --no-print-directory check CHECK_ARGS='unit e2e kernel slow'

.PHONY: tests
tests: $(unit_tests)

check-unit: all tests ## only the unit tests
	@O=$(O) sh tests/run unit

check-e2e: all ## only the end-to-end tests that boot no kernel
	@O=$(O) sh tests/run e2e

check-kernel: all ## only the end-to-end tests on real kernels
	@O=$(O) sh tests/run kernel

FUZZ_SECONDS ?= 30
fuzz: ## fuzz what machines, mails and people send, FUZZ_SECONDS=30 each (clang)
	@$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang SAN=fuzzer-no-link,address,undefined run-fuzzers

.PHONY: run-fuzzers
run-fuzzers: $(fuzzers)
	@for f in $(fuzzers); do \
		echo "  FUZZ $$f"; \
		mkdir -p $$f.corpus; \
		$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -artifact_prefix=$$f. $$f.corpus || exit 1; \
	done

bench: all ## figures, as ratios measured side by side: table and $(O)/bench/main.json
	@O=$(O) sh tests/bench/main

bench-measure: all ## figures of the measuring itself: table and $(O)/bench/measure.json
	@O=$(O) sh tests/bench/measure $(MEASURE_ARGS)

bench-decide: $(archive) ## how well it decides, by simulation: table and $(O)/bench/decide.json; SEED=
	@O=$(O) sh tests/bench/decide-run

bench-decide-full: $(archive) ## the same with the large counts of trials
	@O=$(O) FULL=1 sh tests/bench/decide-run

bench-metal: all ## 20 kexec round trips on two machines with faults, and what they cost: table and $(O)/bench/metal.json; METAL_ARGS=--played
	@O=$(O) sh tests/bench/metal $(METAL_ARGS)

bench-metal-full: all ## the same with 200 round trips
	@O=$(O) sh tests/bench/metal --trips 200 $(METAL_ARGS)

lint: ## format, layers, sizes, cppcheck, man pages, scripts
	@sh tools/lint

format: ## rewrite the sources in the house format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean: ## remove what was made
	rm -rf $(O)

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Installing ---------------------------------------------------------------------------------------

include deploy/install.mk
