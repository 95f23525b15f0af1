/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/metrics/status.h"

#include "user/metrics/expected.h"
#include "user/names.h"
#include "user/policy.h"
#include "user/utf8.h"
#include "xdd/key.h"

/* Bit engines: the k filters, or the array that they share. */
static json_t *filters(const struct loads *loads)
{
	json_t *all = json_array();

	for (u32 i = 0; i < loads->filters; i++)
		json_array_append_new(all,
				      json_pack("{s:I, s:s, s:f}", "id", (json_int_t)i, "state",
						"ok", "density", loads_mean(loads, i)));
	return all;
}

/* Where the filter is a slice for each line, or one, or was never walked: one entry for all. */
static json_t *slices(const struct status *status)
{
	const struct fullness *f = &status->fullness;
	json_t *all;

	if (status->health.n)
		return health_view_json(&status->health);
	if (f->loads.share && !f->slices)
		return filters(&f->loads);
	all = json_array();
	for (u32 i = 0; i < (f->slices ? f->slices_used : 1); i++) {
		json_t *slice = json_pack("{s:I, s:s}", "id", (json_int_t)i, "state", "ok");
		double density = f->slices ? f->slices[i] : f->density;

		json_object_set_new(slice, "density",
				    fullness_is_measured(f) ? json_real(density) : json_null());
		json_array_append_new(all, slice);
	}
	return all;
}

/* Of bit engines, the share of set cells by filter: for each CPU that has its own, or for one. */
static json_t *loads(const struct loads *loads)
{
	json_t *all = json_array();

	if (!loads->share)
		return json_null();
	for (u32 site = 0; site < loads->sites; site++) {
		json_t *one = json_array();

		for (u32 i = 0; i < loads->filters; i++)
			json_array_append_new(one,
					      json_real(loads->share[site * loads->filters + i]));
		json_array_append_new(all, one);
	}
	return all;
}

/* null where slices are not counted one by one, or are empty. */
static json_t *fairness(const struct fullness *f)
{
	return f->slices && f->fairness > 0 ? json_real(f->fairness) : json_null();
}

/* Where the link is not known its state is null. */
static json_t *interface(const struct instance_iface *iface, const struct link_view *link)
{
	json_t *one = json_pack("{s:o, s:s, s:s, s:I, s:I}", "name", utf8_json(iface->name), "mode",
				iface->generic ? "generic" : "native", "state",
				iface_state_names[iface->state], "ifindex",
				(json_int_t)iface->ifindex, "returns", (json_int_t)iface->returns);

	json_object_set_new(one, "carrier",
			    link->known ? json_boolean(link->carrier) : json_null());
	json_object_set_new(one, "operstate",
			    link->known ? json_string(link_operstate(link)) : json_null());
	return one;
}

static json_t *interfaces(const struct status *status)
{
	const struct instance *in = status->instance;
	json_t *all = json_array();

	for (u32 i = 0; i < in->ifaces_used; i++)
		json_array_append_new(all, interface(&in->ifaces[i], &status->links.iface[i]));
	return all;
}

static json_t *range(const struct status *status)
{
	return json_pack("{s:I, s:I, s:I}", "surely_found_ns", (json_int_t)status->sure_ns,
			 "never_found_beyond_ns", (json_int_t)status->never_ns, "clock_step_ns",
			 (json_int_t)status->clock_step_ns);
}

/* Bit engines have no window and ask no clock, but parameters of their own. */
static void config_bits(json_t *all, const struct xdd_fixed *fixed)
{
	static const char *const none[] = { "window_ns", "tick_ns", "window_ticks", "clock",
					    "range" };

	for (size_t i = 0; i < XDD_ARRAY_SIZE(none); i++)
		json_object_set_new(all, none[i], json_null());
	if (fixed->engine == XDD_ENGINE_rsbf)
		json_object_set_new(all, "variant", json_string(variant_names[fixed->variant]));
	if (fixed->engine != XDD_ENGINE_sbf)
		return;
	json_object_set_new(all, "sbf_p", json_integer(fixed->reset_bits));
	json_object_set_new(all, "sbf_max", json_integer(fixed->sbf_max));
}

#define ADD_POLICY(name, word, help)                                                          \
	json_object_set_new(to, #name,                                                        \
			    json_string(live->ambiguous_pass >> XDD_CLASS_##name & 1 ? "pass" \
										     : "drop"));

/* What is done about duplicates beside the action. */
static void config_repeats(json_t *all, const struct xdd_live *live)
{
	json_t *to = json_object();

	XDD_CLASSES(ADD_POLICY)
	json_object_set_new(all, "ambiguous", to);
	json_object_set_new(all, "max_suppress", json_integer(live->max_suppress));
	json_object_set_new(all, "top_suppressed", json_boolean(live->top));
}

static json_t *config(const struct status *status)
{
	const struct instance *in = status->instance;
	const struct xdd_fixed *fixed = &in->fixed;
	json_t *all;

	all = json_pack("{s:I, s:I, s:I, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:s, s:b, s:s, s:o, "
			"s:o, s:I, s:I, s:b}",
			"window_ns", (json_int_t)in->live.window_ns, "tick_ns",
			(json_int_t)fixed->tick_ns, "window_ticks",
			(json_int_t)in->live.window_ticks, "clock", clock_names[fixed->clock],
			"range", range(status), "key", key_names[fixed->key], "hash",
			hash_names[fixed->hash], "slicing", slicing_names[fixed->slicing], "slices",
			(json_int_t)fixed->slices, "hashes", (json_int_t)fixed->hashes, "placement",
			placement_names[fixed->placement], "refresh", fixed->refresh, "action",
			action_names[in->live.action], "redirect",
			utf8_json(status_target(status, XDD_DEV_DUPLICATES)), "forward",
			utf8_json(status_target(status, XDD_DEV_FORWARD)), "memory_bytes",
			(json_int_t)in->meta.memory_bytes, "capacity_keys",
			(json_int_t)in->meta.capacity_keys, "frags", in->meta.frags);
	policy_json(fixed, all);
	config_repeats(all, &in->live);
	json_object_set_new(all, "subslices", json_integer(fixed->subslices));
	json_object_set_new(all, "slice_hashes", json_integer(fixed->slice_hashes));
	json_object_set_new(all, "equal", json_integer(fixed->equal));
	json_object_set_new(all, "fault_policy", json_string(fault_names[fixed->fault_policy]));
	json_object_set_new(all, "vote", json_integer(fixed->vote));
	if (xdd_engine_has_bits(fixed->engine))
		config_bits(all, fixed);
	return all;
}

static json_t *count(struct xdd_count count)
{
	return json_pack("{s:I, s:I}", "packets", (json_int_t)count.packets, "bytes",
			 (json_int_t)count.bytes);
}

#define ADD_COUNT(name, help) json_object_set_new(to, #name, count(c->name));
#define ADD_NOTE(name, help) json_object_set_new(to, #name, json_integer(c->name));

#define ADD_CLASS(name, word, help) json_object_set_new(to, #name, count(c->ambiguous_##name));

static void add_ambiguous(json_t *to, const struct xdd_counters *c)
{
	XDD_CLASSES(ADD_CLASS)
}

static void add_bypassed(json_t *to, const struct xdd_counters *c)
{
	XDD_BYPASSES(ADD_COUNT)
}

static json_t *slot(const struct xdd_counters *c)
{
	json_t *to = json_object(), *bypassed = count(counters_bypassed(c)),
	       *reasons = json_object(), *ambiguous = json_object();

	json_object_set_new(to, "received", count(c->received));
	XDD_VERDICTS(ADD_COUNT)
	add_bypassed(reasons, c);
	json_object_set_new(bypassed, "reasons", reasons);
	json_object_set_new(to, "bypassed", bypassed);
	XDD_ACTIONS(ADD_COUNT)
	add_ambiguous(ambiguous, c);
	json_object_set_new(to, "ambiguous", ambiguous);
	XDD_NOTES(ADD_NOTE)
	return to;
}

/* In the order of interfaces. */
static json_t *counters(const struct status *status)
{
	const struct instance *in = status->instance;
	const struct counters *c = &status->counters;
	json_t *all = json_array();

	for (u32 i = 0; i < in->ifaces_used; i++) {
		json_t *one = slot(&c->slot[i]);

		json_object_set_new(one, "name", utf8_json(in->ifaces[i].name));
		json_array_append_new(all, one);
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "total", slot(&c->total), "interfaces", all,
			 "elsewhere", slot(&c->slot[XDD_SLOT_ELSEWHERE]), "former",
			 slot(&c->slot[XDD_SLOT_FORMER]));
}

static json_t *milliseconds(bool known, u64 ns)
{
	return known ? json_real(ns / 1e6) : json_null();
}

static json_t *ager(const struct status *status)
{
	const struct fullness *f = &status->fullness;

	return json_pack("{s:o, s:I, s:o, s:o, s:I, s:I}", "last_sweep_ms",
			 milliseconds(f->known, f->since_sweep_ns), "missed", (json_int_t)f->missed,
			 "sweep_ms", milliseconds(f->known, f->sweep_ns), "period_ms",
			 milliseconds(f->known, f->period_ns), "sweeps", (json_int_t)f->sweeps,
			 "pid", (json_int_t)status->ageing);
}

static json_t *lines(const char list[][STATUS_WARNING_MAX], int n)
{
	json_t *all = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(all, json_string(list[i]));
	return all;
}

/* A rate that is not known is null. */
static json_t *rate(const struct status *status, double value)
{
	return status_is_modelled(status) ? expected_rate_json(value) : json_null();
}

/* Only an engine that is made for so many keys has a rate with them. */
static json_t *rate_at_capacity(const struct status *status)
{
	return status->instance->meta.capacity_keys ? json_real(status->fullness.fpr_full)
						    : json_null();
}

static json_t *watch(const struct status *status)
{
	const struct instance *in = status->instance;
	const struct watch_view *view = &status->watch;

	if (!view->there)
		return json_null();
	return json_pack("{s:s, s:o, s:I, s:o, s:I, s:I, s:I, s:o}", "action",
			 watch_names[in->live.watch_action], "keys",
			 view->lost ? json_null() : json_integer(view->keys), "capacity",
			 (json_int_t)view->capacity, "fpr",
			 view->lost ? json_null() : json_real(view->fpr), "level1_bits",
			 (json_int_t)in->fixed.watch_bits, "positions",
			 (json_int_t)in->fixed.watch_hashes, "memory_bytes",
			 (json_int_t)view->memory_bytes, "share", watch_view_share_json(view));
}

json_t *status_json(const struct status *status)
{
	const struct instance *in = status->instance;
	json_t *all;

	all = json_pack(
		"{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, "
		"s:I, s:o, s:o}",
		"name", in->name, "interfaces", interfaces(status), "engine",
		engine_names[in->fixed.engine], "config", config(status), "counters",
		counters(status), "top_suppressed",
		in->live.top ? top_json(&status->top, in->fixed.key) : json_null(),
		"false_positives_expected", rate(status, status->false_positives), "slices",
		slices(status), "slices_fairness", fairness(&status->fullness), "loads",
		loads(&status->fullness.loads), "fpr_model", rate(status, status->fullness.fpr),
		"fnr_model", rate(status, status->fullness.fnr), "fpr_at_capacity",
		rate_at_capacity(status), "audit", audit_json(&status->audit), "ager", ager(status),
		"program_id", (json_int_t)in->program_id, "loaded_s", (json_int_t)status->loaded_s,
		"warnings", lines(status->warning, status->warnings), "passed_ethertypes",
		ethertypes_json(&status->ethertypes));
	json_object_set_new(all, "since_load", lines(status->note, status->notes));
	json_object_set_new(all, "copy_distance", distances_json(&status->distances));
	json_object_set_new(all, "watch", watch(status));
	json_object_set_new(all, "collect", collected_json(&status->collected));
	json_object_set_new(all, "tree", tree_json(in, &status->tree));
	json_object_set_new(all, "replicas", peers_replicas_json(in, &status->peers));
	json_object_set_new(all, "peers", peers_json(&status->peers));
	json_object_set_new(all, "growth", chains_json(&status->fullness.chains, &in->fixed));
	return all;
}
