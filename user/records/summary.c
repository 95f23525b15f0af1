/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/records/summary.h"

#include <inttypes.h>
#include <jansson.h>

#include "user/metrics/audit.h"
#include "user/metrics/chains.h"
#include "user/metrics/expected.h"
#include "user/names.h"
#include "user/provenance.h"

#define BYPASS_NAME(name, help) #name,
static const char *const bypass_names[] = { RECORD_BYPASSES(BYPASS_NAME) };

static json_t *json_bypassed(const struct summary *s)
{
	json_t *bypassed = json_object();

	for (u32 i = 0; i < RECORD_BYPASS_MAX; i++)
		json_object_set_new(bypassed, bypass_names[i], json_integer(s->bypassed[i]));
	return bypassed;
}

static json_t *json_counts(const struct summary *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:b, s:b}", "packets", s->records,
			 "records", s->records, "bytes", s->bytes, "distinct", s->distinct,
			 "duplicates", s->duplicates, "bypassed", json_bypassed(s), "seconds",
			 s->seconds, "complete", s->complete, "interrupted", s->interrupted);
}

static struct expected expected_of(const struct summary *s)
{
	return store_expected(s->store, s->distinct, s->duplicates, s->last_ns);
}

static json_t *json_filter(const struct summary *s)
{
	const struct derived *d = s->derived;
	const struct xdd_store *store = s->store;
	bool time = s->rule->time_field && d->live.window_ns != STORE_FOREVER_NS;
	struct expected model = expected_of(s);

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:o}", "engine",
			 engine_names[d->fixed.engine], "field", (json_int_t)s->rule->field,
			 "window_ns", time ? (json_int_t)d->live.window_ns : 0, "window_records",
			 (json_int_t)d->window_records, "memory_bytes", store_bytes(store),
			 "fpr_model", expected_rate_json(model.fpr), "fnr_model",
			 expected_rate_json(model.fnr), "time_back", store->time_back, "evictions",
			 store->evictions, "forgotten", store->forgotten, "growth",
			 chains_of_store(store));
}

static struct audit audit_of(const struct summary *s)
{
	struct audit audit;

	audit_make(&audit, &s->store->fixed, &s->store->audit_counts, s->distinct, s->duplicates);
	return audit;
}

/* Whether the filter is on other machines. */
static bool is_remote(const struct summary *s)
{
	return s->remote || s->leaf;
}

/* json_filter() where sites have the filter. */
static json_t *json_sites(const struct summary *s)
{
	const struct derived *d = s->derived;

	return json_pack("{s:s, s:I, s:I, s:I, s:o}", "engine", engine_names[d->fixed.engine],
			 "field", (json_int_t)s->rule->field, "window_ns",
			 s->rule->time_field ? (json_int_t)d->live.window_ns : 0, "memory_bytes",
			 (json_int_t)xdd_lines(&d->fixed) * XDD_LINE_BYTES,
			 s->leaf ? "tree" : "sites",
			 s->leaf ? branch_json(s->leaf) : remote_json(s->remote));
}

static void add_audit(const struct summary *s, json_t *all)
{
	struct audit audit = audit_of(s);

	if (audit.share)
		json_object_set_new(all, "audit", audit_json(&audit));
}

char *summary_json(const struct summary *s)
{
	json_t *all = json_counts(s), *filter = is_remote(s) ? json_sites(s) : json_filter(s);
	char *text;

	json_object_update(all, filter);
	if (!is_remote(s))
		add_audit(s, all);
	warnings_json(all);
	provenance_json(all, s->options);
	text = json_dumps(all, JSON_INDENT(2));
	json_decref(filter);
	json_decref(all);
	return text;
}

static void print_bypassed(const struct summary *s, FILE *to)
{
	const char *before = "passed without a look: ";

	for (u32 i = 0; i < RECORD_BYPASS_MAX; i++) {
		if (!s->bypassed[i])
			continue;
		fprintf(to, "%s%" PRIu64 " %s", before, (uint64_t)s->bypassed[i], bypass_names[i]);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', to);
}

static void print_errors(const struct summary *s, double fpr, FILE *to)
{
	u64 forgotten = s->store->forgotten + s->store->evictions;
	bool exact = s->derived->fixed.engine == XDD_ENGINE_exact;

	if (exact && s->distinct)
		fprintf(to, "distinct records taken for duplicates: below %.1g by the model\n",
			fpr * s->distinct);
	if (!exact)
		fprintf(to,
			"a distinct record that comes now is taken for a duplicate with "
			"probability %.2g, by how full the filter is\n",
			fpr);
	if (forgotten)
		fprintf(to,
			"memory was short: %" PRIu64 " records were forgotten early, their "
			"duplicates may have passed: give --memory more\n",
			(uint64_t)forgotten);
	if (fpr > EXPECTED_FPR_HIGH)
		fprintf(to, "the filter is too full for these records: distinct ones are dropped: "
			    "give --memory more\n");
}

/* Of the filter in the store. */
static void print_filter(const struct summary *s, FILE *to)
{
	char window[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	struct expected model = expected_of(s);
	struct audit audit = audit_of(s);

	fprintf(to, "window %s, engine %s in %s, %.2f s (%.2f million records a second)\n",
		derive_events_text(s->derived, window), engine_names[s->derived->fixed.engine],
		units_size_text(store_bytes(s->store), memory), s->seconds,
		s->records / 1e6 / s->seconds);
	print_errors(s, model.fpr, to);
	audit_print(&audit, &model, to, "", "records", 0);
}

static void print_remote(const struct summary *s, FILE *to)
{
	char window[UNITS_TEXT_MAX];

	fprintf(to, "window %s, engine %s on sites, %.2f s (%.0f records a second)\n",
		derive_events_text(s->derived, window), engine_names[s->derived->fixed.engine],
		s->seconds, s->records / s->seconds);
	if (s->leaf)
		branch_print(s->leaf, to);
	else
		remote_print(s->remote, to);
}

void summary_text(const struct summary *s, FILE *to)
{
	fprintf(to,
		"%s%" PRIu64 " records: %" PRIu64 " distinct, %" PRIu64 " duplicates (%.1f %%)\n",
		s->interrupted ? "interrupted after " : "", (uint64_t)s->records,
		(uint64_t)s->distinct, (uint64_t)s->duplicates,
		s->records ? 100.0 * s->duplicates / s->records : 0.0);
	print_bypassed(s, to);
	if (is_remote(s))
		print_remote(s, to);
	else
		print_filter(s, to);
}
