# SPDX-License-Identifier: GPL-2.0-or-later
# install and uninstall: one list serves both. Included by the root Makefile.

bindir := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec/mmperf
datadir := $(PREFIX)/share/mmperf
mandir := $(PREFIX)/share/man

# mode, file, directory
installed = \
	755:$(O)/mmperf:$(bindir) \
	755:$(O)/mmperf-runner:$(libexecdir) \
	755:$(O)/mmperf-bisector:$(libexecdir) \
	755:$(O)/mmperf-reporter:$(libexecdir) \
	755:$(O)/bench/mmperf-agent:$(libexecdir) \
	755:deploy/demo:$(libexecdir) \
	755:deploy/demo-metal:$(libexecdir) \
	755:deploy/demo-tree:$(libexecdir) \
	755:deploy/metal-machine:$(libexecdir) \
	755:deploy/packaged-tree:$(libexecdir) \
	755:deploy/setup:$(libexecdir) \
	$(patsubst %,644:%:$(datadir)/recipes,$(wildcard deploy/recipes/*.config)) \
	644:deploy/mmperf.conf.sample:$(datadir) \
	$(patsubst %,644:%:$(UNITDIR),$(wildcard deploy/systemd/*.service)) \
	644:deploy/sysusers.d/mmperf.conf:$(PREFIX)/lib/sysusers.d \
	644:deploy/tmpfiles.d/mmperf.conf:$(PREFIX)/lib/tmpfiles.d \
	$(patsubst %,644:%:$(mandir)/man1,$(wildcard docs/man/*.1)) \
	$(patsubst %,644:%:$(mandir)/man5,$(wildcard docs/man/*.5)) \
	$(patsubst %,644:%:$(mandir)/man7,$(wildcard docs/man/*.7)) \
	$(patsubst %,644:%:$(mandir)/man8,$(wildcard docs/man/*.8))

install: all ## into DESTDIR/PREFIX
	@for entry in $(installed); do \
		mode=$${entry%%:*}; rest=$${entry#*:}; file=$${rest%%:*}; dir=$(DESTDIR)$${rest#*:}; \
		install -d "$$dir" && install -m "$$mode" "$$file" "$$dir/" || exit 1; \
	done
	@for b in $(bench_names); do \
		ln -sf mmperf-agent "$(DESTDIR)$(libexecdir)/$$b" || exit 1; \
	done

uninstall: ## what install put there
	@for entry in $(installed); do \
		rest=$${entry#*:}; file=$${rest%%:*}; dir=$(DESTDIR)$${rest#*:}; \
		rm -f "$$dir/$$(basename "$$file")"; \
	done
	@for b in $(bench_names); do rm -f "$(DESTDIR)$(libexecdir)/$$b"; done
	@rmdir -p --ignore-fail-on-non-empty "$(DESTDIR)$(libexecdir)" "$(DESTDIR)$(datadir)/recipes" 2>/dev/null || true
