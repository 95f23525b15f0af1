/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xdp-dedup fault: let slices of a running filter fail or recover, and show their health. */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "user/clock.h"
#include "user/loader/caps.h"
#include "user/loader/faults.h"
#include "user/loader/pins.h"
#include "user/message.h"
#include "user/units.h"

/* Returns an exit code. */
static int check_options(const struct options *o)
{
	bool slice = option_given(o, OPT_slice);

	if (o->fail && o->recover)
		complain("fault: --fail and --recover: give one");
	else if ((o->fail || o->recover) && !slice)
		complain("fault: which slices? give --slice I[,J...], or --slice all");
	else if (slice && !o->fail && !o->recover)
		complain("fault: what about --slice %s? give --fail or --recover",
			 o->text[OPT_slice]);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

/* The same, against what is loaded. */
static int check_instance(const struct options *o, const struct instance *in, u32 sites)
{
	u32 parts = xdd_parts(&in->fixed);

	if (!o->slice_all && o->slice_last >= parts)
		complain("fault: --slice %u: %s has %u slice%s that can fail, from 0 on",
			 o->slice_last, in->name, parts, parts == 1 ? "" : "s");
	else if (option_given(o, OPT_cpu) && in->fixed.placement != XDD_PLACEMENT_percpu)
		complain("fault: --cpu: all CPUs share the filter of %s", in->name);
	else if (option_given(o, OPT_cpu) && o->cpu >= sites)
		complain("fault: --cpu %u: %s has filters for CPUs 0 to %u", o->cpu, in->name,
			 sites - 1);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

static bool is_meant(const struct options *o, u32 part)
{
	return o->slice_all || o->slice[part / 64] >> part % 64 & 1;
}

static int change_site(const struct options *o, struct faults *f, u32 site)
{
	u32 parts = xdd_parts(&f->in->fixed);
	int err = 0;

	for (u32 part = 0; part < parts && !err; part++) {
		if (!is_meant(o, part))
			continue;
		if (o->fail)
			faults_fail(f, site, part, HEALTH_CAUSE_command);
		else
			err = faults_recover(f, site, part, HEALTH_CAUSE_command);
	}
	return err;
}

/* Returns an exit code. */
static int change(const struct options *o, struct faults *f)
{
	int err = 0;

	for (u32 site = 0; site < f->sites && !err; site++)
		if (!option_given(o, OPT_cpu) || o->cpu == site)
			err = change_site(o, f, site);
	if (!err)
		return EXIT_OK;
	complain("fault: %s: the slices cannot be emptied and stay failed: %s", f->in->name,
		 strerror(-err));
	return EXIT_FAILED;
}

static json_t *causes(const struct xdd_health *part)
{
	json_t *all = json_array();

	for (u32 i = 0; i < HEALTH_CAUSE_MAX; i++)
		if (health_failed_by(part, i))
			json_array_append_new(all, json_string(health_cause_words[i]));
	return all;
}

static json_t *part_json(const struct faults *f, u32 site, u32 i)
{
	const struct xdd_health *part = faults_site(f, site) + 1 + i;
	bool percpu = f->in->fixed.placement == XDD_PLACEMENT_percpu;
	u64 now = now_ns();
	enum health_state state = health_state(part, now);
	json_t *left =
		state == HEALTH_RECOVERING ? json_real((part->until_ns - now) / 1e6) : json_null();

	return json_pack("{s:I, s:o, s:s, s:o, s:o, s:I}", "id", (json_int_t)i, "cpu",
			 percpu ? json_integer(site) : json_null(), "state",
			 health_state_names[state], "why", causes(part), "believed_in_ms", left,
			 "unanswered", (json_int_t)part->asked);
}

static void print_json(const struct faults *f)
{
	char policy[HEALTH_POLICY_TEXT_MAX];
	json_t *all = json_object(), *slices = json_array();

	for (u32 site = 0; site < f->sites; site++)
		for (u32 i = 0; i < xdd_parts(&f->in->fixed); i++)
			json_array_append_new(slices, part_json(f, site, i));
	json_object_set_new(all, "name", json_string(f->in->name));
	json_object_set_new(all, "policy", json_string(health_policy_text(&f->in->fixed, policy)));
	json_object_set_new(all, "slices", slices);
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(all);
}

static void print_part(const struct faults *f, u32 site, u32 i)
{
	const struct xdd_health *part = faults_site(f, site) + 1 + i;
	u64 now = now_ns();
	enum health_state state = health_state(part, now);
	char left[UNITS_TEXT_MAX];

	if (f->in->fixed.placement == XDD_PLACEMENT_percpu)
		printf("  CPU %-3u", site);
	printf("  slice %-4u %s", i, health_state_names[state]);
	for (u32 cause = 0; cause < HEALTH_CAUSE_MAX; cause++)
		if (health_failed_by(part, cause))
			printf(", %s", health_cause_words[cause]);
	if (state == HEALTH_RECOVERING)
		printf(", believed again in %s",
		       units_time_text((part->until_ns - now) / 1000000 * 1000000, left));
	printf("; %" PRIu64 " look-ups not answered\n", (uint64_t)part->asked);
}

/* Those that are ok are only counted. */
static void print_text(const struct faults *f)
{
	u32 parts = xdd_parts(&f->in->fixed), count[HEALTH_MAX] = {};
	char policy[HEALTH_POLICY_TEXT_MAX];
	u64 now = now_ns(), asked = 0;

	for (u32 i = 0; i < f->sites * parts; i++) {
		const struct xdd_health *part = faults_site(f, i / parts) + 1 + i % parts;

		count[health_state(part, now)]++;
		asked += part->asked;
	}
	printf("%s: fault policy %s; slices: %u ok, %u failed, %u recovering; %" PRIu64
	       " look-ups not answered\n",
	       f->in->name, health_policy_text(&f->in->fixed, policy), count[HEALTH_OK],
	       count[HEALTH_FAILED], count[HEALTH_RECOVERING], (uint64_t)asked);
	for (u32 i = 0; i < f->sites * parts; i++)
		if (health_state(faults_site(f, i / parts) + 1 + i % parts, now) != HEALTH_OK)
			print_part(f, i / parts, i % parts);
}

/* Returns an exit code. */
static int with_faults(const struct options *o, struct faults *f)
{
	int code = check_instance(o, f->in, f->sites);

	if (code == EXIT_OK && (o->fail || o->recover))
		code = change(o, f);
	if (code != EXIT_OK)
		return code;
	if (o->json)
		print_json(f);
	else if (!o->quiet)
		print_text(f);
	return EXIT_OK;
}

static int with_instance(const struct options *o, const struct instance *in)
{
	struct faults f;
	int err = faults_open(&f, in), code;

	if (!err && !f.sites) {
		complain("fault: %s: was loaded without --fault-policy, so its slices do not fail: "
			 "unload it, and load it with one",
			 in->name);
		return EXIT_FAILED;
	}
	if (err) {
		complain("fault: %s: cannot read its slices' health: %s", in->name, strerror(-err));
		return EXIT_FAILED;
	}
	code = with_faults(o, &f);
	faults_close(&f);
	return code;
}

int cmd_fault(struct options *o)
{
	char err[MESSAGE_MAX];
	struct instance in;
	int root, code = check_options(o);

	if (code != EXIT_OK)
		return code;
	root = caps_check(err, sizeof(err)) ?: pins_lock(false, false, err, sizeof(err));
	if (root < 0) {
		if (root == -ENOENT)
			complain("fault: %s: no instance is loaded", o->args[0]);
		else
			complain("fault: %s", err);
		return EXIT_FAILED;
	}
	code = EXIT_FAILED;
	if (instance_open(&in, o->args[0], err, sizeof(err)))
		complain("fault: %s", err);
	else {
		code = with_instance(o, &in);
		instance_close(&in);
	}
	pins_unlock(root);
	return code;
}
