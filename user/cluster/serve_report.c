/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/cluster/serve_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "user/model.h"
#include "user/provenance.h"

static void print_json(const struct options *o, const struct call_here *here,
		       const struct site *site, u64 refused, u32 slices)
{
	const struct site_counts *c = &site->counts;
	json_t *loads = json_array(), *all;

	for (u32 i = 0; i < slices; i++)
		json_array_append_new(loads, json_integer(site->loads[i]));
	all = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "site",
			here->name, "first_slice", (json_int_t)here->first, "slices",
			(json_int_t)here->n, "of", (json_int_t)here->of, "messages",
			(json_int_t)c->questions, "bytes_in", (json_int_t)c->bytes_in, "bytes_out",
			(json_int_t)c->bytes_out, "repeats", (json_int_t)c->repeats, "refused",
			(json_int_t)(c->refused + refused), "tests", (json_int_t)c->tests, "sets",
			(json_int_t)c->sets, "claimed", (json_int_t)c->claimed, "loads", loads);
	provenance_json(all, o);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void print_text(const struct call_here *here, const struct site *site, u64 refused,
		       u32 slices)
{
	const struct site_counts *c = &site->counts;
	struct model_spread load = model_spread(site->loads, slices);

	printf("%s: slices %u-%u/%u: %" PRIu64 " visits, the busiest slice %.1f %% of them\n",
	       here->name, here->first, here->first + here->n - 1, here->of,
	       (uint64_t)(c->tests + c->sets), 100 * load.max_share);
	printf("%" PRIu64 " messages (%" PRIu64 " of them again), %" PRIu64 " bytes in, %" PRIu64
	       " out; %" PRIu64 " refused; %" PRIu64 " keys claimed by others\n",
	       (uint64_t)c->questions, (uint64_t)c->repeats, (uint64_t)c->bytes_in,
	       (uint64_t)c->bytes_out, (uint64_t)(c->refused + refused), (uint64_t)c->claimed);
}

void serve_report(const struct options *o, const struct call_here *here, const struct site *site,
		  u64 refused)
{
	u32 slices = here->n * xdd_subslices(&site->fixed);

	if (o->json)
		print_json(o, here, site, refused, slices);
	else if (!o->quiet)
		print_text(here, site, refused, slices);
	fflush(stdout);
}
