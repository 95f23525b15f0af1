/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/screen/figures.h"

#include <math.h>

#include "user/utf8.h"

const char *const figures_state_names[] = {
	[FIGURES_OK] = "ok",
	[FIGURES_NO_PACKETS] = "no packets",
	[FIGURES_WARNINGS] = "warnings",
};

static double share_of(double part, double rest)
{
	return part + rest > 0 ? part / (part + rest) : NAN;
}

/* Counters that went back were loaded anew. */
static double rate_of(u64 before, u64 now, double seconds)
{
	return now < before ? NAN : (now - before) / seconds;
}

static struct rates rates_of(const struct xdd_counters *before, const struct xdd_counters *now,
			     double seconds)
{
	struct rates r = {
		.received = rate_of(before->received.packets, now->received.packets, seconds),
		.distinct = rate_of(before->distinct.packets, now->distinct.packets, seconds),
		.duplicate = rate_of(before->duplicate.packets, now->duplicate.packets, seconds),
		.bypassed = rate_of(counters_bypassed(before).packets,
				    counters_bypassed(now).packets, seconds),
		.bits = 8 * rate_of(before->received.bytes, now->received.bytes, seconds),
	};

	r.copies = share_of(r.duplicate, r.distinct);
	return r;
}

static double key_rate(const struct top *before, const struct top_key *key, double seconds)
{
	for (u32 i = 0; i < before->used; i++)
		if (before->key[i].key == key->key)
			return rate_of(before->key[i].packets, key->packets, seconds);
	return NAN;
}

/* Without a look before it everything is unknown: what is divided by NAN is NAN. */
static void add_rates(struct figures *f, const struct status *before)
{
	const struct status *now = f->now;

	for (u32 i = 0; i < XDD_SLOTS; i++)
		f->slot[i] =
			rates_of(&before->counters.slot[i], &now->counters.slot[i], f->seconds);
	f->total = rates_of(&before->counters.total, &now->counters.total, f->seconds);
	f->evictions = rate_of(before->counters.total.evictions, now->counters.total.evictions,
			       f->seconds);
	for (u32 i = 0; i < now->top.used; i++)
		f->key[i] = key_rate(&before->top, &now->top.key[i], f->seconds);
}

static enum figures_state state_of(const struct figures *f)
{
	if (f->now->warnings)
		return FIGURES_WARNINGS;
	return f->total.received == 0 ? FIGURES_NO_PACKETS : FIGURES_OK;
}

void figures_make(struct figures *f, const struct status *before, const struct status *now,
		  double seconds)
{
	const struct xdd_counters *total = &now->counters.total;

	*f = (struct figures){ .now = now, .seconds = NAN };
	if (before && before->instance->meta.loaded_s == now->instance->meta.loaded_s)
		f->seconds = seconds;
	add_rates(f, before ?: now);
	f->copies_since_load = share_of(total->duplicate.packets, total->distinct.packets);
	f->state = state_of(f);
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *rates_json(const struct rates *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "received", number(r->received),
			 "distinct", number(r->distinct), "duplicate", number(r->duplicate),
			 "bypassed", number(r->bypassed), "bits", number(r->bits), "copies",
			 number(r->copies));
}

static json_t *all_rates_json(const struct figures *f)
{
	const struct instance *in = f->now->instance;
	json_t *interfaces = json_array(), *one;

	for (u32 i = 0; i < in->ifaces_used; i++) {
		one = rates_json(&f->slot[i]);
		json_object_set_new(one, "interface", utf8_json(in->ifaces[i].name));
		json_array_append_new(interfaces, one);
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "total", rates_json(&f->total), "interfaces",
			 interfaces, "copies_since_load", number(f->copies_since_load), "evictions",
			 number(f->evictions));
}

json_t *figures_json(const struct figures *f)
{
	json_t *all = status_json(f->now), *keys, *key;
	size_t i;

	json_object_set_new(all, "state", json_string(figures_state_names[f->state]));
	json_object_set_new(all, "interval_s", number(f->seconds));
	json_object_set_new(all, "rates", all_rates_json(f));
	keys = json_object_get(all, "top_suppressed");
	json_array_foreach (keys, i, key)
		json_object_set_new(key, "per_second", number(f->key[i]));
	return all;
}
