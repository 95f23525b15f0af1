/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a producer said to sites, and who answered. */
#include <inttypes.h>

#include "user/cluster/remote_work.h"
#include "user/model.h"
#include "user/sites/site.h"

static struct model_spread spread(const struct remote *r)
{
	return model_spread(producer_visits(r->p), xdd_slices_count(&r->plan.fixed));
}

static u64 repeats(const struct remote *r)
{
	u64 sum = r->repeats;

	for (u32 i = 0; i < r->n; i++)
		sum += r->links[i].question.repeats;
	return sum;
}

static u64 refused(const struct remote *r)
{
	return r->refused + calls_counts(r->calls).refused;
}

/* Who came back since keys were last asked is what it will be for the next ones. */
static const char *state_of(const struct remote *r, const struct roster_site *site)
{
	if (site->back)
		return xdd_engine_has_timers(r->plan.fixed.engine) ? "recovering" : "ok";
	return producer_site_state(r->p, producer_site_of(r->p, site->here.first * r->roster.each),
				   r->tick);
}

static json_t *sites_json(const struct remote *r)
{
	json_t *sites = json_array();

	for (u32 i = 0; i < r->roster.n; i++) {
		const struct roster_site *site = &r->roster.site[i];

		json_array_append_new(
			sites, json_pack("{s:s, s:I, s:I, s:s}", "site", site->here.name,
					 "first_slice", (json_int_t)site->here.first, "slices",
					 (json_int_t)site->here.n, "state", state_of(r, site)));
	}
	return sites;
}

static json_t *visits_json(const struct remote *r)
{
	json_t *visits = json_array();

	for (u32 i = 0; i < xdd_slices_count(&r->plan.fixed); i++)
		json_array_append_new(visits, json_integer(producer_visits(r->p)[i]));
	return visits;
}

json_t *remote_json(const struct remote *r)
{
	const struct producer_counts *c = producer_counts(r->p);
	struct model_spread visits = spread(r);
	char missing[CALL_TEXT];
	json_t *all =
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			  "protocol", protocol_names[r->plan.protocol], "primitive",
			  primitive_names[r->plan.test_and_set], "batch",
			  (json_int_t)r->setup.o->batch, "messages", (json_int_t)c->messages,
			  "repeats", (json_int_t)repeats(r), "bytes_out", (json_int_t)c->bytes_out,
			  "bytes_in", (json_int_t)c->bytes_in, "visits", (json_int_t)c->visits,
			  "unknown", (json_int_t)c->unknown, "claimed", (json_int_t)c->claimed,
			  "failures", (json_int_t)c->failures, "refused", (json_int_t)refused(r));

	json_object_set_new(all, "max_share", json_real(visits.max_share));
	json_object_set_new(all, "fairness", json_real(visits.fairness));
	json_object_set_new(all, "missing_slices",
			    json_integer(roster_missing(&r->roster, missing, sizeof(missing))));
	json_object_set_new(all, "loads", visits_json(r));
	json_object_set_new(all, "sites", sites_json(r));
	return all;
}

static void print_sites(const struct remote *r, FILE *to)
{
	for (u32 i = 0; i < r->roster.n; i++) {
		const struct roster_site *site = &r->roster.site[i];

		fprintf(to, "%-10s slices %u-%u  %s\n", state_of(r, site), site->here.first,
			site->here.first + site->here.n - 1, site->here.name);
	}
}

void remote_print(const struct remote *r, FILE *to)
{
	const struct producer_counts *c = producer_counts(r->p);
	struct model_spread visits = spread(r);
	char missing[CALL_TEXT];

	fprintf(to,
		"%" PRIu64 " messages to %u sites (%" PRIu64 " sent again), %" PRIu64
		" bytes out, %" PRIu64 " in; %" PRIu64 " refused\n",
		(uint64_t)c->messages, r->roster.n, (uint64_t)repeats(r), (uint64_t)c->bytes_out,
		(uint64_t)c->bytes_in, (uint64_t)refused(r));
	fprintf(to,
		"%" PRIu64 " visits of slices, the busiest %.1f %% of them, fairness %.3f; %" PRIu64
		" unknown; %" PRIu64 " times claimed by another producer\n",
		(uint64_t)c->visits, 100 * visits.max_share, visits.fairness, (uint64_t)c->unknown,
		(uint64_t)c->claimed);
	if (c->failures)
		fprintf(to, "sites failed %" PRIu64 " times\n", (uint64_t)c->failures);
	print_sites(r, to);
	if (roster_missing(&r->roster, missing, sizeof(missing)))
		fprintf(to, "%-10s slices %s  no site\n", "failed", missing);
}
