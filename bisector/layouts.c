// SPDX-License-Identifier: GPL-2.0-or-later
/* A layout for each boot. */
#include "bisector/layouts.h"

#include "db/noise.h"

bool layouts_read(struct bisector *bisector, const struct series *series, struct layouts *out,
		  struct err *err)
{
	double wanted = conf_f64(bisector->settings->conf, "bisect", NULL, "fresh-layouts"), boot;

	if (!noise_layout(bisector->db, series->id, &out->sd, &boot, err))
		return false;
	out->fresh = boot > 0 && !series_is_boots(series) && out->sd > wanted * boot;
	return true;
}

static bool one_build(struct bisector *bisector, const struct layouts_side *side, size_t boot,
		      int priority, const char *purpose, struct built *out, bool *ready,
		      struct err *err)
{
	const struct build_key key = {
		.tree_oid = side->tree_oid,
		.recipe = side->recipe,
		.toolchain = side->toolchain,
		.layout_seed = side->others + (int64_t)boot,
	};
	struct build_look look;

	*out = side->plain;
	if (!boot)
		return true;
	if (!build_ensure(bisector->db, &key, side->commit, priority, purpose, &look, err))
		return false;
	*ready &= look.state != BUILD_PENDING && look.state != BUILD_ABSENT;
	if (look.state == BUILD_BUILT)
		*out = (struct built){side->commit, look.id, look.image, look.state};
	return true;
}

bool layouts_builds(struct bisector *bisector, const struct layouts_side *side, size_t first,
		    size_t n, int priority, const char *purpose, struct built *out, bool *ready,
		    struct err *err)
{
	*ready = true;
	for (size_t i = 0; i < n; i++)
		if (!one_build(bisector, side, first + i, priority, purpose, &out[i], ready, err))
			return false;
	return true;
}
