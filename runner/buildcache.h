/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_BUILDCACHE_H
#define RUNNER_BUILDCACHE_H

/*
 * Finished builds on this host by what they depend on, so that a fresh database need not build again
 * what was built before. May be deleted at any time.
 */

#include "runner/builder.h"

/* A hit has paths inside the cache, whose contents were checked; *hit false: not there. */
bool buildcache_get(const struct settings *settings, const struct build *build, struct made *out,
		    bool *hit, struct err *err) _must_check;
bool buildcache_put(const struct settings *settings, const struct build *build,
		    const struct made *made, struct err *err) _must_check;
/* Removes the oldest finished builds until min_free bytes are free, or none is left. */
bool buildcache_shrink(const struct settings *settings, int64_t min_free,
		       struct err *err) _must_check;

#endif
