// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "user/records/join_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/message.h"
#include "user/provenance.h"
#include "user/records/files.h"
#include "user/units.h"

static json_t *set_json(const struct join_result *r, const struct acbf *a)
{
	const struct acbf_stats *s = &r->stats;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:f}", "keys", s->keys,
			 "counters", a->counters, "positions", (json_int_t)a->hashes, "level1_bits",
			 s->bits, "levels", s->levels, "fpr_model", s->fpr, "memory_bytes",
			 s->memory_bytes, "idle_bits", s->idle, "records", r->join_records,
			 "no_field", r->join_no_field, "seconds", r->build_seconds);
}

static char *report_json(const struct join_result *r, const struct options *o, const struct acbf *a)
{
	json_t *all = json_pack("{s:I, s:I, s:I, s:I, s:f, s:b, s:b, s:o}", "records", r->records,
				"kept", r->kept, "dropped", r->records - r->kept, "no_field",
				r->no_field, "seconds", r->seconds, "complete", r->complete,
				"interrupted", r->interrupted, "set", set_json(r, a));
	char *text;

	provenance_json(all, o);
	text = json_dumps(all, JSON_INDENT(2));
	json_decref(all);
	return text;
}

static void report_text(const struct join_result *r, const struct options *o)
{
	char memory[UNITS_TEXT_MAX];

	if (!o->save_filter)
		fprintf(stderr,
			"%s%" PRIu64 " records: %" PRIu64 " kept, %" PRIu64 " without a key\n",
			r->interrupted ? "interrupted after " : "", (uint64_t)r->records,
			(uint64_t)r->kept, (uint64_t)r->no_field);
	fprintf(stderr,
		"set of %" PRIu64 " keys in %s; a record whose key is not in it is kept with "
		"probability %.2g, by how full it is\n",
		(uint64_t)r->stats.keys, units_size_text(r->stats.memory_bytes, memory),
		r->stats.fpr);
}

/* A wrong --join-field would otherwise look like a set that has nothing in common. */
static void warn_empty(const struct join_result *r)
{
	if (r->join_no_field && !r->join_records)
		note("stream: none of the %" PRIu64
		     " records of --join has a key: is --join-field right?",
		     (uint64_t)r->join_no_field);
}

int join_report(const struct join_result *r, const struct options *o, const struct acbf *a,
		struct sink *summary)
{
	char *json = report_json(r, o, a);
	int rc = json ? 0 : -ENOMEM;

	if (json && o->json) {
		fprintf(stderr, "%s\n", json);
	} else if (!o->quiet) {
		warn_empty(r);
		report_text(r, o);
	}
	if (json && o->summary)
		rc = records_write_summary(summary, json, o->summary);
	free(json);
	return rc;
}
