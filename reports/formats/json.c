// SPDX-License-Identifier: GPL-2.0-or-later
/* Report as JSON. */
#include "base/js.h"
#include "reports/format.h"

#include <math.h>
#include <stdlib.h>

#include "reports/lock_table.h"

static json_t *commit_json(const struct report_commit *commit)
{
	json_t *obj = json_object();

	js_set_str(obj, "oid", commit->oid);
	js_set_str(obj, "subject", commit->subject);
	js_set_str(obj, "author_name", commit->author_name);
	js_set_str(obj, "author_email", commit->author_email);
	js_set_str(obj, "link", commit->link);
	js_set_str(obj, "message_id", commit->message_id);
	return obj;
}

static json_t *texts_json(const struct strs *texts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < texts->n; i++)
		json_array_append_new(list, json_string(texts->v[i]));
	return list;
}

static json_t *series_json(const struct report_series *series)
{
	struct report_change change = report_change_of(series);
	json_t *obj = json_object();

	js_set_str(obj, "benchmark", series->benchmark);
	js_set_str(obj, "metric", series->metric);
	js_set_str(obj, "params", series->params);
	js_set_str(obj, "pass", series->pass);
	js_set_str(obj, "unit", series->unit);
	js_set_str(obj, "direction", series->direction);
	js_set_bool(obj, "primary", series->primary);
	js_set_i64(obj, "before_n", series->before_n);
	js_set_f64(obj, "before_mean", series->before_mean);
	js_set_i64(obj, "after_n", series->after_n);
	js_set_f64(obj, "after_mean", series->after_mean);
	js_set_f64(obj, "effect", series->effect);
	js_set_f64(obj, "effect_lo", series->lo);
	js_set_f64(obj, "effect_hi", series->hi);
	js_set_f64(obj, "change_pct", change.pct);
	js_set_f64(obj, "change_lo_pct", change.lo_pct);
	js_set_f64(obj, "change_hi_pct", change.hi_pct);
	js_set_f64(obj, "detectable_pct", change.mde_pct);
	js_set_bool(obj, "significant", series->significant);
	js_set_str(obj, "word", change.word);
	return obj;
}

static json_t *hypotheses_json(const struct report_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->n_hypotheses; i++) {
		const struct report_hypothesis *h = &facts->hypotheses[i];
		json_t *obj = json_object();

		js_set_str(obj, "kind", h->kind);
		js_set_str(obj, "oid", h->oid);
		js_set_str(obj, "subject", h->subject);
		js_set_f64(obj, "prior", h->prior);
		js_set_f64(obj, "mass", h->mass);
		js_set_bool(obj, "failed_build", h->failed);
		json_array_append_new(list, obj);
	}
	return list;
}

static const char *oid_of(const struct report_facts *facts, int64_t commit)
{
	const struct report_commit *ends[] = {&facts->good, &facts->bad, &facts->base,
					      &facts->parent, &facts->culprit};

	for (size_t i = 0; i < facts->n_hypotheses; i++)
		if (facts->hypotheses[i].commit == commit)
			return facts->hypotheses[i].oid;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i]->id == commit)
			return ends[i]->oid;
	return NULL;
}

static json_t *boots_json(const struct report_facts *facts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < facts->n_boots; i++) {
		const struct report_boot *boot = &facts->boots[i];
		json_t *obj = json_object();

		js_set_str(obj, "commit", oid_of(facts, boot->commit));
		js_set_str(obj, "purpose", boot->purpose);
		js_set_str(obj, "role", boot->role);
		js_set_str(obj, "outcome", boot->outcome);
		js_set_f64(obj, "value", boot->value);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *setup_json(const struct report_facts *facts)
{
	json_t *obj = json_object();

	js_set_str(obj, "class", facts->class_name);
	js_set_str(obj, "driver", facts->driver);
	js_set_str(obj, "method", facts->method);
	js_set_bool(obj, "emulated", facts->emulated);
	js_set_new(obj, "environment", texts_json(&facts->environment));
	js_set_str(obj, "recipe", facts->recipe);
	js_set_i64(obj, "recipe_version", facts->recipe_version);
	js_set_str(obj, "recipe_text", facts->recipe_text);
	js_set_str(obj, "toolchain", facts->toolchain);
	js_set_str(obj, "suite", facts->suite);
	js_set_new(obj, "params", texts_json(&facts->params));
	return obj;
}

static json_t *functions_json(const struct report_functions *f)
{
	json_t *obj = json_object();

	js_set_bool(obj, "known", f->known);
	js_set_str(obj, "reason", f->reason);
	js_set_bool(obj, "layout_suspect", f->suspect);
	js_set_i64(obj, "differ", f->differ);
	js_set_i64(obj, "hot", f->hot);
	js_set_i64(obj, "hot_differ", f->hot_differ);
	js_set_new(obj, "names", texts_json(&f->names));
	return obj;
}

static json_t *confidence_json(const struct report_facts *facts)
{
	json_t *obj = json_object();

	js_set_f64(obj, "posterior", facts->posterior);
	js_set_f64(obj, "min_effect", facts->min_effect);
	js_set_i64(obj, "search_boots", facts->search_boots);
	js_set_i64(obj, "prove_boots", facts->prove_boots);
	js_set_i64(obj, "confirm_boots", facts->confirm_boots);
	js_set_f64(obj, "revert_removes", facts->revert_effect);
	js_set_f64(obj, "revert_removes_lo", facts->revert_lo);
	js_set_f64(obj, "revert_removes_hi", facts->revert_hi);
	js_set_str(obj, "revert_reason", facts->revert_reason);
	return obj;
}

static void set_head(json_t *obj, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_STR title = str_new();

	report_add_title(report, &title);
	js_set_i64(obj, "id", facts->id);
	js_set_str(obj, "title", title.s);
	js_set_str(obj, "state", facts->state);
	js_set_str(obj, "created", facts->created);
	js_set_str(obj, "tree", facts->tree);
	js_set_str(obj, "url", facts->url);
	js_set_str(obj, "branch", facts->branch);
	js_set_str(obj, "metric", report->metric);
	js_set_str(obj, "verdict", report->verdict);
	js_set_bool(obj, "contention_only", report->contention_only);
	js_set_f64(obj, "cost_below_pct", report->cost_below_pct);
	js_set_str(obj, "page", report->page);
	js_set_new(obj, "culprit", commit_json(&facts->culprit));
	js_set_new(obj, "parent", commit_json(&facts->parent));
	js_set_new(obj, "good", commit_json(&facts->good));
	js_set_new(obj, "bad", commit_json(&facts->bad));
}

void format_json_write(struct str *out, const struct report *report)
{
	const struct report_facts *facts = &report->facts;
	AUTO_JSON *obj = json_object();
	AUTO_FREE char *text = NULL;
	json_t *list = json_array(), *reproduce = json_object();

	set_head(obj, report);
	for (size_t i = 0; i < facts->n_series; i++)
		json_array_append_new(list, series_json(&facts->series[i]));
	js_set_new(obj, "series", list);
	js_set_new(obj, "setup", setup_json(facts));
	js_set_new(obj, "confidence", confidence_json(facts));
	js_set_new(obj, "functions", functions_json(&facts->functions));
	js_set_new(obj, "locks", lock_table_json(&facts->locks));
	js_set_new(obj, "hypotheses", hypotheses_json(facts));
	js_set_new(obj, "boots", boots_json(facts));
	js_set_str(reproduce, "bisect", report->bisect_command);
	js_set_str(reproduce, "compare", report->compare_command);
	js_set_new(reproduce, "by_hand", texts_json(&report->by_hand));
	js_set_new(obj, "reproduce", reproduce);
	text = js_pretty(obj);
	str_add(out, text);
}
