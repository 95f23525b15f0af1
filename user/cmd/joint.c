// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xdp-dedup joint: the keys that all monitors have, which are files here, or live hosts. */
#include "cmd.h"
#include "joint_hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../joint/list.h"
#include "../joint/run.h"
#include "../message.h"
#include "../provenance.h"

struct job {
	struct options *o;
	struct joint_reading reading;
	struct joint_plan plan;
	u32 n;
	struct joint_list lists[JOINT_MONITORS_MAX];
	struct joint_monitor monitors[JOINT_MONITORS_MAX];
	struct joint_set printed[JOINT_MONITORS_MAX]; /* --at-least: digests of each list's keys */
	struct joint_result result;
	u64 common; /* keys printed */
};

static int read_lists(struct job *j, char *err, size_t err_size)
{
	int rc = 0;

	for (j->n = 0; !rc && j->n < (u32)j->o->n_args; j->n++) {
		struct joint_list *list = &j->lists[j->n];

		rc = joint_list_read(list, &j->reading, j->o->args[j->n], err, err_size);
		if (!rc && list->is_capture != j->lists[0].is_capture)
			rc = refuse(
				err, err_size, -EINVAL,
				"%s and %s: a list of keys and a capture have no keys in common",
				j->lists[0].path, list->path);
		if (!rc && list->is_capture && (j->o->field || j->o->null))
			rc = refuse(err, err_size, -EINVAL,
				    "%s: --%s is for lists of keys, and this is a capture",
				    list->path, j->o->field ? "field" : "null");
	}
	return rc;
}

static int run(struct job *j, char *err, size_t err_size)
{
	int rc = 0;

	for (u32 i = 0; !rc && i < j->n; i++) {
		rc = joint_monitor_open(&j->monitors[i], &j->plan, i, j->lists[i].digests,
					j->lists[i].n);
		/* From now on the monitor has them. */
		free(j->lists[i].digests);
		j->lists[i].digests = NULL;
	}
	rc = rc ?: joint_run(&j->plan, j->monitors, &j->result);
	if (rc)
		refuse(err, err_size, rc, "%s", rc == -ENOMEM ? "out of memory" : strerror(-rc));
	return rc;
}

/* Of the digests that monitor @i has left, those that no list before has printed: take the others out of
 * @m->from. Returns their number, or -ENOMEM.
 */
static s64 take_out_printed(struct job *j, u32 i)
{
	struct joint_monitor *m = &j->monitors[i];
	u64 *at = malloc((m->n + 1) * sizeof(*at));
	s64 n = 0;

	if (!at)
		return -ENOMEM;
	memcpy(at, m->keys, m->n * sizeof(*at));
	for (u64 k = 0; k < m->n; k++) {
		bool printed = false;

		for (u32 before = 0; before < i && !printed; before++)
			printed = joint_set_has(&j->printed[before], m->keys[k]);
		m->from[n] = m->from[k];
		n += !printed;
	}
	return joint_set_make(&j->printed[i], 0, at, m->n) ?: n;
}

static int print_of_each(struct job *j, char *err, size_t err_size)
{
	int rc = 0;

	for (u32 i = 0; !rc && i < j->n; i++) {
		s64 n = take_out_printed(j, i);

		if (n < 0)
			return refuse(err, err_size, n, "%s", strerror(-n));
		j->common += n;
		rc = joint_list_print(&j->lists[i], &j->reading, j->monitors[i].from, n, true,
				      stdout, err, err_size);
	}
	return rc;
}

/* All that the first list has; or what enough have, of each list what none before it has. */
static int print_keys(struct job *j, char *err, size_t err_size)
{
	const struct joint_monitor *first = &j->monitors[0];

	if (j->plan.at_least < j->plan.monitors)
		return print_of_each(j, err, err_size);
	j->common = first->n;
	return joint_list_print(&j->lists[0], &j->reading, first->from, first->n, false, stdout,
				err, err_size);
}

/* Of the keys of monitor @i that are not common, so many are expected to be taken for common, at most. */
static double expected_wrong(const struct job *j, u32 i)
{
	return joint_is_exact(&j->plan) ? 0 : j->plan.epsilon * j->lists[i].n;
}

static json_t *list_json(const struct job *j, u32 i)
{
	const struct joint_list *list = &j->lists[i];

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "file", list->path,
			 "kind", list->is_capture ? "capture" : "keys", "records",
			 (json_int_t)list->records, "without_key", (json_int_t)list->without,
			 "keys", (json_int_t)list->n, "candidates", (json_int_t)j->monitors[i].n,
			 "misclassified_at_most", expected_wrong(j, i), "up_bytes",
			 (json_int_t)j->result.up_of[i], "down_bytes",
			 (json_int_t)j->result.down_of[i]);
}

static void print_json(const struct job *j)
{
	const struct joint_result *r = &j->result;
	json_t *monitors = json_array(), *all;

	for (u32 i = 0; i < j->n; i++)
		json_array_append_new(monitors, list_json(j, i));
	all = json_pack("{s:s, s:I, s:i, s:i, s:f, s:I, s:I, s:I, s:I, s:i, s:f, s:o}", "algorithm",
			joint_names[j->plan.algorithm], "common", (json_int_t)j->common, "at_least",
			(int)j->plan.at_least, "rounds", (int)j->plan.rounds, "epsilon",
			joint_is_exact(&j->plan) ? 0 : j->plan.epsilon, "up_bytes",
			(json_int_t)r->up, "down_bytes", (json_int_t)r->down, "hashes",
			(json_int_t)r->hashes, "lookup_hashes", (json_int_t)r->lookups, "exchanges",
			(int)r->exchanges, "seconds", r->seconds, "monitors", monitors);
	provenance_json(all, j->o);
	json_dumpf(all, stderr, JSON_INDENT(2));
	fputc('\n', stderr);
	json_decref(all);
}

/* A wrong --field or --key would otherwise look like lists that have nothing in common. */
static void print_without(const struct job *j)
{
	const struct options *o = j->o;
	bool filtered = o->filter || option_given(o, OPT_direction);

	for (u32 i = 0; i < j->n; i++) {
		const struct joint_list *list = &j->lists[i];
		char what[48] = "frames have no key";

		if (!list->without)
			continue;
		if (!list->is_capture)
			snprintf(what, sizeof(what), "%s have no field %u",
				 o->null ? "records" : "lines", o->field);
		fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 " %s%s\n", list->path,
			(uint64_t)list->without, (uint64_t)list->records, what,
			list->is_capture && filtered
				? ", or are left out by --filter or --direction"
				: "");
	}
}

static void print_text(const struct job *j)
{
	const struct joint_result *r = &j->result;
	u64 keys = 0;

	fprintf(stderr, "%12s %12s %12s %12s %12s\n", "keys", "candidates", "wrong", "bytes up",
		"bytes down");
	for (u32 i = 0; i < j->n; i++) {
		fprintf(stderr,
			"%12" PRIu64 " %12" PRIu64 " %12.3g %12" PRIu64 " %12" PRIu64 "  %s\n",
			(uint64_t)j->lists[i].n, (uint64_t)j->monitors[i].n, expected_wrong(j, i),
			(uint64_t)r->up_of[i], (uint64_t)r->down_of[i], j->lists[i].path);
		keys += j->lists[i].n;
	}
	print_without(j);
	fprintf(stderr,
		"%s: %" PRIu64 " key%s that %s %u have; none is lost%s\n"
		"%" PRIu64 " bytes up, %" PRIu64 " down, %.3g bits for each key; %" PRIu64
		" hashes, %" PRIu64 " to look up\n",
		joint_names[j->plan.algorithm], (uint64_t)j->common, j->common == 1 ? "" : "s",
		j->plan.at_least < j->n ? "at least" : "all", j->plan.at_least,
		joint_is_exact(&j->plan)
			? ""
			: "; wrong: so many of a list's other keys are expected, at most",
		(uint64_t)r->up, (uint64_t)r->down, keys ? 8. * (r->up + r->down) / keys : 0,
		(uint64_t)r->hashes, (uint64_t)r->lookups);
}

static int join(struct job *j)
{
	char err[MESSAGE_MAX] = "";
	int rc = read_lists(j, err, sizeof(err)) ?: run(j, err, sizeof(err)) ?:
						   print_keys(j, err, sizeof(err));

	if (rc)
		complain("joint: %s", err);
	else if (j->o->json)
		print_json(j);
	else if (!j->o->quiet)
		print_text(j);
	return rc ? EXIT_FAILED : EXIT_OK;
}

static void close_job(struct job *j)
{
	for (u32 i = 0; i < j->n; i++) {
		joint_list_close(&j->lists[i]);
		joint_monitor_close(&j->monitors[i]);
		joint_set_free(&j->printed[i]);
	}
	joint_reading_close(&j->reading);
	free(j);
}

/* Options that are for live hosts only, and for files only: hosts know what their keys are of. */
static const enum option_id of_hosts[] = { OPT_period, OPT_then, OPT_count, OPT_secret_file,
					   OPT_nats };
static const enum option_id of_files[] = {
	OPT_key,       OPT_non_ip, OPT_ignore,	    OPT_include,
	OPT_payload,   OPT_vlan,   OPT_scope,	    OPT_inner,
	OPT_vni,       OPT_seed,   OPT_tunnel_port, OPT_filter,
	OPT_direction, OPT_field,  OPT_null,	    OPT_verify_checksum,
	OPT_delimiter
};

/* The first of @n options @ids that was given, as a label; or NULL. */
static const char *first_given(const struct options *o, const enum option_id *ids, size_t n,
			       char label[OPTION_LABEL_MAX])
{
	for (size_t i = 0; i < n; i++)
		if (option_given(o, ids[i]))
			return option_label(ids[i], label);
	return NULL;
}

/* What asks live hosts says nothing of files, and the reverse. Returns whether all is well. */
static bool check_monitors(const struct options *o)
{
	char label[OPTION_LABEL_MAX];
	const char *wrong = o->monitor_names
				    ? first_given(o, of_files, XDD_ARRAY_SIZE(of_files), label)
				    : first_given(o, of_hosts, XDD_ARRAY_SIZE(of_hosts), label);

	if (o->monitor_names && o->n_args)
		complain("joint: %s: give files, or --monitors", o->args[0]);
	else if (!o->monitor_names && o->n_args < 2)
		complain("joint: too few arguments: xdp-dedup joint FILE FILE..., or --monitors "
			 "NAME,...");
	else if (wrong && o->monitor_names)
		complain("joint: %s is for files: what live hosts note of a packet was said when "
			 "they were loaded",
			 wrong);
	else if (wrong)
		complain("joint: %s is for live hosts: add --monitors NAME,...", wrong);
	else
		return true;
	return false;
}

static bool reads_twice(const struct options *o)
{
	u32 n = 0;

	for (int i = 0; i < o->n_args; i++)
		n += !strcmp(o->args[i], "-");
	if (n > 1)
		complain("joint: -: is given %u times, and standard input can be read once: give "
			 "the others as files",
			 n);
	return n > 1;
}

int cmd_joint(struct options *o)
{
	struct job *j;
	char err[MESSAGE_MAX];
	int code = EXIT_USAGE;

	if (!check_monitors(o) || reads_twice(o))
		return EXIT_USAGE;
	if (o->monitor_names)
		return joint_with_hosts(o);
	j = calloc(1, sizeof(*j));

	if (!j) {
		complain("joint: out of memory");
		return EXIT_FAILED;
	}
	j->o = o;
	j->plan = joint_plan_of(o, o->n_args);
	if (joint_plan_check(&j->plan, err, sizeof(err)) ||
	    joint_reading_open(&j->reading, o, err, sizeof(err)))
		complain("joint: %s", err);
	else
		code = join(j);
	close_job(j);
	return code;
}
