# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/bench/measure: what the guest's root weighs. Agent, benchmarks and lockwatch are one program.

# shellcheck disable=SC2046
gcc -std=gnu17 -D_GNU_SOURCE -O2 -I. tests/bench/write_initramfs.c "$build/libmmperf.a" \
	$(pkg-config --cflags --libs libgit2 libcurl jansson libpq gsl) -lm -o "$work/write_initramfs"
"$work/write_initramfs" "$build/bench/mmperf-agent" | gzip -9 >"$work/initramfs.gz"
row 'initramfs' 'agent, benchmarks, lockwatch; gzip -9' '<= 6' \
	"$(stat -c %s "$work/initramfs.gz" | awk '{ printf "%.2f", $1 / 1048576 }')" MB
