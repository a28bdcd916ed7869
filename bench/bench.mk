# SPDX-License-Identifier: GPL-2.0-or-later
#
# What runs on the test machine: one static program with several names, and the archive of its parts
# that unit tests link. Included by the root Makefile.

bench_sources := $(filter-out bench/main.c,$(filter-out %.bpf.c,$(wildcard bench/*.c)))
# Base without third parties other than jansson.
bench_base := base/clock.c base/err.c base/fs.c base/hash.c base/js.c base/mem.c base/opt.c base/str.c
# The files that hold a BPF program, each with its skeleton.
bench_bpf := lockdelay lockwatch profile
# A benchmark's program has the name of its file.
bench_names := $(patsubst bench/%.c,%,$(shell grep -l '^const struct bench bench_' bench/*.c)) lockwatch profile
bench_programs := $(O)/bench/mmperf-agent $(addprefix $(O)/bench/,$(bench_names))
bench_test_archive := $(O)/libbench.a

# Static programs cannot be sanitised: their objects are compiled apart, without SAN.
bench_cflags = $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(our_cflags))
bench_objects := $(patsubst %.c,$(O)/static/%.o,bench/main.c $(bench_sources) $(bench_base)) \
	$(O)/static/gen/lock_sites.o
bench_test_objects := $(patsubst %.c,$(O)/%.o,$(filter-out $(bench_bpf:%=bench/%.c),$(bench_sources))) \
	$(O)/gen/lock_sites.o
bench_libs := -ljansson -lbpf -lelf -lz -lpthread -lm

CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)

# Kernel side: types come from no kernel, so the object fits every kernel.
$(O)/gen/%.bpf.o: bench/%.bpf.c bench/lock_slots.h bench/lock_account.h bench/lock_delays.h \
		bench/profile_maps.h
	@mkdir -p $(@D)
	@echo "  BPF  $@"
	@$(CLANG) -target bpf -mcpu=v2 -ffreestanding -O2 -g -Wall -Wextra -Werror -I. \
		-idirafter /usr/include/$(shell uname -m)-linux-gnu -c $< -o $@

$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	@$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(O)/gen/lock_sites.c: bench/lock-callsites.tsv bench/bench.mk
	@mkdir -p $(@D)
	@awk -F '\t' 'BEGIN { print "#include \"bench/lockname.h\"\n\n" \
		"const struct lock_site lock_sites[] = {" } \
		/^#/ || NF < 4 { next } \
		{ printf "\t{\"%s\", \"%s\", \"%s\", \"%s\"},\n", $$1, $$2, $$3, $$4 } \
		END { print "\t{0},\n};" }' $< > $@

$(O)/gen/lock_sites.o: $(O)/gen/lock_sites.c $(O)/.flags
	@$(compile) -MMD -MP -c $< -o $@

$(O)/static/gen/lock_sites.o: $(O)/gen/lock_sites.c $(O)/.flags
	@mkdir -p $(@D)
	@$(CC) $(bench_cflags) $(CFLAGS) -MMD -MP -c $< -o $@

$(foreach name,$(bench_bpf),$(eval $(O)/static/bench/$(name).o: $(O)/gen/$(name).skel.h))
$(bench_bpf:%=$(O)/static/bench/%.o): bench_extra := -isystem $(O)/gen
.PRECIOUS: $(O)/gen/%.bpf.o

$(O)/static/%.o: %.c $(O)/.flags
	@mkdir -p $(@D)
	@echo "  CC   $< (static)"
	@$(CC) $(bench_extra) $(bench_cflags) $(CFLAGS) -MMD -MP -c $< -o $@

$(O)/bench/mmperf-agent: $(bench_objects)
	@mkdir -p $(@D)
	@echo "  LINK $@"
	@$(CC) -static -o $@.full $^ $(bench_libs)
	@strip -o $@ $@.full

$(addprefix $(O)/bench/,$(bench_names)): $(O)/bench/mmperf-agent
	@ln -sf mmperf-agent $@

$(bench_test_archive): $(bench_test_objects)
	@echo "  AR   $@"
	@rm -f $@
	@ar rcs $@ $^

-include $(bench_objects:.o=.d) $(bench_test_objects:.o=.d)
