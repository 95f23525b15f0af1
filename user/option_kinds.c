/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "option_kinds.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cluster/bus.h"
#include "joint/set.h"
#include "joint/plan.h"
#include "sites/producer.h"
#include "message.h"
#include "names.h"
#include "units.h"
#include "watch/acbf.h"

#define SLICES_MAX 10000000 /* of site */
#define GROUP_HOST_MAX 30   /* with an instance's name it is WIRE_NAME - 1 at most */
#define MAX_WINDOW_NS (366 * 24 * 3600ull * 1000 * 1000 * 1000)

static int parse_flag(struct value *v)
{
	*(bool *)v->at = true;
	return 0;
}

static int parse_time(struct value *v)
{
	u64 ns;
	int err = units_time(v->text, &ns);

	if (err)
		return err;
	if (ns < v->kind->least || ns > v->kind->most)
		return -ERANGE;
	*(u64 *)v->at = ns;
	return 0;
}

static int parse_size(struct value *v)
{
	u64 bytes;
	int err = units_size(v->text, &bytes);

	if (err)
		return err;
	if (bytes < XDD_LINE_BYTES)
		return -ERANGE;
	*(u64 *)v->at = bytes;
	return 0;
}

static int parse_count(struct value *v)
{
	u64 count;
	int err = units_count(v->text, &count);

	if (err)
		return err;
	if (!count)
		return -ERANGE;
	*(u64 *)v->at = count;
	return 0;
}

/* The same, or 0. */
static int parse_keys(struct value *v)
{
	return units_count(v->text, v->at);
}

static int parse_deletes(struct value *v)
{
	v->o->deletes_old = !strncmp(v->text, "old:", 4);
	return units_count(v->text + 4 * v->o->deletes_old, v->at);
}

/* "50", or "50-250". */
static int parse_range(const char *text, u64 *first, u64 *last)
{
	const char *dash = strchr(text, '-');
	char word[32];
	int err;

	snprintf(word, sizeof(word), "%.*s", dash ? (int)(dash - text) : 31, text);
	err = units_count(word, first);
	return err ?: units_count(dash ? dash + 1 : word, last);
}

/* For the first host and the last. */
static int parse_key_range(struct value *v)
{
	return parse_range(v->text, &v->o->initial, &v->o->initial_last);
}

/* For the smallest list and the greatest. */
static int parse_sizes(struct value *v)
{
	int err = parse_range(v->text, &v->o->sizes, &v->o->sizes_last);

	if (!err && (v->o->sizes > v->o->sizes_last || v->o->sizes_last > JOINT_KEYS_MAX))
		return -ERANGE;
	return err;
}

/* Records or packets a second, or, with `bit` or `bit/s` behind the count, bits. */
static int parse_rate(struct value *v)
{
	size_t length = strlen(v->text);
	struct value bits = *v;
	char count[32];

	for (const char *const *unit = (const char *const[]){ "bit/s", "bit", NULL }; *unit;
	     unit++) {
		size_t tail = strlen(*unit);

		if (length <= tail || strcmp(v->text + length - tail, *unit))
			continue;
		if (length - tail >= sizeof(count))
			return -EINVAL;
		snprintf(count, sizeof(count), "%.*s", (int)(length - tail), v->text);
		v->o->rate_bits = true;
		bits.text = count;
		return parse_count(&bits);
	}
	v->o->rate_bits = false;
	return parse_count(v);
}

/* A finite number above 0. */
static int parse_cost(struct value *v)
{
	double cost;
	char *end;

	if (!isdigit((unsigned char)v->text[0]))
		return -EINVAL;
	cost = strtod(v->text, &end);
	if (*end || v->text[1] == 'x' || v->text[1] == 'X')
		return -EINVAL;
	*(double *)v->at = cost;
	return cost >= 1e-9 && cost <= 1e9 ? 0 : -ERANGE;
}

/* A number of times, with an x behind it or without. */
static int parse_burst(struct value *v)
{
	double burst;
	char *end;

	if (v->text[0] < '1' || v->text[0] > '9')
		return -EINVAL;
	burst = strtod(v->text, &end);
	if (*end == 'x')
		end++;
	if (*end)
		return -EINVAL;
	*(double *)v->at = burst;
	return burst >= 1 && burst <= 1000 ? 0 : -ERANGE;
}

static int parse_ratio(struct value *v)
{
	return units_ratio(v->text, v->at);
}

/* The same, or 0, or 1. */
static int parse_share(struct value *v)
{
	double *share = v->at;

	*share = !strcmp(v->text, "1");
	return *share || !strcmp(v->text, "0") ? 0 : units_ratio(v->text, share);
}

/* A share up to all of it, or off. */
static int parse_audit(struct value *v)
{
	double *rate = v->at;

	*rate = !strcmp(v->text, "1") || !strcmp(v->text, "1/1");
	if (*rate || !strcmp(v->text, "off"))
		return 0;
	return units_ratio(v->text, rate);
}

static int parse_number(struct value *v)
{
	u64 number;
	int err = units_number(v->text, &number);

	if (err)
		return err;
	if (number < v->kind->least || number > v->kind->most)
		return -ERANGE;
	*(u32 *)v->at = number;
	return 0;
}

static int parse_choice(struct value *v)
{
	const struct kind *kind = v->kind;
	const char *nearest;
	int i;

	if (kind->automatic && !strcmp(v->text, "auto")) {
		*(int *)v->at = OPTION_AUTO;
		return 0;
	}
	i = name_index(kind->choices, v->text);
	if (i >= 0) {
		*(int *)v->at = i;
		return 0;
	}
	nearest = name_nearest(kind->choices, v->text);
	return refuse(v->err, v->err_size, -EINVAL, "%s %s: not %s%s%s%s", v->label, v->text,
		      kind->what, nearest ? "; did you mean " : "", nearest ?: "",
		      nearest ? "?" : "");
}

/* A name, and of every and dirty what it says of it. */
static int parse_push(struct value *v)
{
	struct update_policy *push = v->at;

	push->rule = UPDATE_every;
	if (!strncmp(v->text, "every:", 6))
		return strcmp(v->o->command, "simulate")
			       ? units_time(v->text + 6, &push->every)
			       : units_count(v->text + 6, &push->every) ?: push->every ? 0 : -ERANGE;
	push->rule = UPDATE_dirty;
	if (!strncmp(v->text, "dirty:", 6))
		return units_ratio(v->text + 6, &push->dirty);
	push->rule = name_index(update_names, v->text);
	return push->rule == UPDATE_never || push->rule >= UPDATE_false_rate ? 0 : -EINVAL;
}

/* A number from 0 to 1e9 that @end follows. Returns what is behind @end, or NULL. */
static const char *parse_weight(const char *text, char end, double *weight)
{
	char *stop;

	if (!isdigit((unsigned char)*text) || text[1] == 'x' || text[1] == 'X')
		return NULL;
	*weight = strtod(text, &stop);
	return *stop == end && *weight <= 1e9 ? stop + 1 : NULL;
}

/* Two of them, not both 0. */
static int parse_weights(struct value *v)
{
	double *weight = v->at;
	const char *second = parse_weight(v->text, ':', &weight[0]);

	if (!second || !parse_weight(second, '\0', &weight[1]))
		return -EINVAL;
	return weight[0] + weight[1] > 0 ? 0 : -ERANGE;
}

/* Cells of a key in each of K1 slices, "2x3": K1 times K2 is k. */
static int parse_slicing(struct value *v)
{
	u32 k1 = v->text[0] - '0', k2;

	if (!isdigit(v->text[0]) || v->text[1] != 'x')
		return parse_choice(v);
	k2 = v->text[2] - '0';
	if (!isdigit(v->text[2]) || v->text[3] || !k1 || !k2 || k1 * k2 > XDD_MAX_HASHES)
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: K1 and K2 are numbers from 1 whose product, k, is at most %u",
			      v->label, v->text, XDD_MAX_HASHES);
	*(int *)v->at = XDD_SLICING_K1xK2;
	v->o->slice_hashes = k1;
	v->o->slice_cells = k2;
	return 0;
}

/* "vote:X", or a name. `off` is what is not given. */
static int parse_fault_policy(struct value *v)
{
	u32 x;

	if (!strcmp(v->text, "distinct") || !strcmp(v->text, "duplicate"))
		return parse_choice(v);
	if (strncmp(v->text, "vote:", 5))
		return -EINVAL;
	x = v->text[5] - '0';
	if (x - 1 >= XDD_MAX_HASHES || v->text[6])
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: X is a number of cells from 1 to %u, of the k of a key",
			      v->label, v->text, XDD_MAX_HASHES);
	v->o->vote = x;
	*(int *)v->at = XDD_FAULTS_vote;
	return 0;
}

/* A plain number, behind which @end is what follows. */
static int plain_number(const char *text, u32 most, u32 *number, const char **end)
{
	u32 n = 0;

	for (*end = text; **end >= '0' && **end <= '9'; (*end)++) {
		n = n * 10 + (**end - '0');
		if (n > most)
			return -ERANGE;
	}
	*number = n;
	return *end == text ? -EINVAL : 0;
}

/* "0,3", or "all". */
static int parse_slice_list(struct value *v)
{
	const char *at = v->text;
	u32 slice;
	int err;

	memset(v->o->slice, 0, sizeof(v->o->slice));
	v->o->slice_last = 0;
	v->o->slice_all = !strcmp(at, "all");
	for (bool more = !v->o->slice_all; more; at++) {
		err = plain_number(at, XDD_MAX_PARTS - 1, &slice, &at);
		more = *at == ',';
		if (!err && *at && !more)
			err = -EINVAL;
		if (err)
			return refuse(v->err, v->err_size, err,
				      "%s %s: slices are numbers from 0 to %u with commas between "
				      "them, such as 0,3, or all",
				      v->label, v->text, XDD_MAX_PARTS - 1);
		v->o->slice[slice / 64] |= 1ULL << slice % 64;
		if (slice > v->o->slice_last)
			v->o->slice_last = slice;
	}
	return 0;
}

/* "0-9/40": some of the slices; or "3/40". */
static int parse_slice_range(struct value *v)
{
	u32 first, last, of = 0;
	const char *at;
	int err = plain_number(v->text, SLICES_MAX - 1, &first, &at);

	last = first;
	if (!err && *at == '-')
		err = plain_number(at + 1, SLICES_MAX - 1, &last, &at);
	if (!err)
		err = *at == '/' ? plain_number(at + 1, SLICES_MAX, &of, &at) : -EINVAL;
	if (err || *at)
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: which slices of how many? such as 0-9/40, or 3/40 for one",
			      v->label, v->text);
	if (first > last)
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: is empty: the first slice comes first, as in %u-%u/%u",
			      v->label, v->text, last, first, of);
	if (last >= of)
		return refuse(v->err, v->err_size, -ERANGE,
			      "%s %s: of %u slices the last one is %d: they are numbered from 0",
			      v->label, v->text, of, (int)of - 1);
	v->o->slice_first = first;
	v->o->slice_end = last + 1;
	v->o->slices = of;
	return 0;
}

/* Of site those that it serves; how many there are of a tree's root. */
static int parse_slices_of(struct value *v)
{
	bool range = !strcmp(v->o->command, "site") && strpbrk(v->text, "-/");

	return range ? parse_slice_range(v) : parse_number(v);
}

static int parse_cpu(struct value *v)
{
	const char *end;
	int err = plain_number(v->text, 65535, v->at, &end);

	return err ?: *end ? -EINVAL : 0;
}

static int parse_on_off(struct value *v)
{
	bool on = !strcmp(v->text, "on");

	if (!on && strcmp(v->text, "off"))
		return -EINVAL;
	*(bool *)v->at = on;
	return 0;
}

static int parse_non_ip(struct value *v)
{
	bool frame = !strcmp(v->text, "frame");

	if (!frame && strcmp(v->text, "pass"))
		return -EINVAL;
	*(bool *)v->at = frame;
	return 0;
}

static int parse_mode(struct value *v)
{
	if (!strcmp(v->text, "drv"))
		v->text = "native";
	else if (!strcmp(v->text, "skb"))
		v->text = "generic";
	return parse_choice(v);
}

static int parse_seed(struct value *v)
{
	v->o->seed_random = !strcmp(v->text, "random");
	if (v->o->seed_random)
		return 0;
	return units_number(v->text, v->at);
}

static int parse_offset(struct value *v, char *spec)
{
	char *at = strchr(spec, '@');
	u64 len, pos;

	if (!at)
		return -EINVAL;
	*at = 0;
	if (units_number(spec, &len) || units_number(at + 1, &pos))
		return -EINVAL;
	if (!len || len > UINT16_MAX || pos > UINT16_MAX)
		return -ERANGE;
	v->o->offset_len = len;
	v->o->offset_pos = pos;
	v->o->key = XDD_KEY_offset;
	return 0;
}

static int parse_key(struct value *v)
{
	static const char prefix[] = "offset:";
	char spec[16];

	if (!strncmp(v->text, "offset", strlen("offset"))) {
		const char *rest = v->text + strlen(prefix);

		if (!strncmp(v->text, prefix, strlen(prefix)) && strlen(rest) < sizeof(spec) &&
		    !parse_offset(v, strcpy(spec, rest)))
			return 0;
		return refuse(
			v->err, v->err_size, -EINVAL,
			"--key %s: write offset:LEN@POS, LEN 1 to 65535 bytes from byte POS of "
			"the frame, 0 to 65535, for example --key offset:20@14",
			v->text);
	}
	return parse_choice(v);
}

static int parse_recovery(struct value *v)
{
	static const char prefix[] = "vector:";
	u64 n = XDD_MAX_HISTORY;

	if (!strcmp(v->text, "match"))
		n = 0;
	else if (!strncmp(v->text, prefix, strlen(prefix))) {
		if (units_number(v->text + strlen(prefix), &n) || n < 2 || n > XDD_MAX_HISTORY)
			return -ERANGE;
	} else if (strcmp(v->text, "vector"))
		return -EINVAL;
	*(u32 *)v->at = n;
	return 0;
}

static bool iface_valid(const char *text)
{
	size_t n = strlen(text);

	return n && n < IF_NAMESIZE && *text != '-' && !strpbrk(text, "/: \t\n") &&
	       strcmp(text, ".") && strcmp(text, "..");
}

/* `none` is NULL, and given: `set` then ends what `load` began. */
static int parse_forward(struct value *v)
{
	bool none = !strcmp(v->text, "none");

	if (!none && !iface_valid(v->text))
		return -EINVAL;
	*(const char **)v->at = none ? NULL : v->text;
	return 0;
}

static int parse_ifaces(struct value *v)
{
	struct option_ifaces *list = v->at;
	char text[XDD_MAX_IFACES * IF_NAMESIZE + 1], *at = text, *name;

	if (strlen(v->text) >= sizeof(text))
		return -ERANGE;
	strcpy(text, v->text);
	list->used = 0;
	while ((name = strsep(&at, ","))) {
		if (!iface_valid(name) || list->used == XDD_MAX_IFACES)
			return -EINVAL;
		for (u32 i = 0; i < list->used; i++)
			if (!strcmp(list->name[i], name))
				return refuse(v->err, v->err_size, -EINVAL, "%s: %s is given twice",
					      v->label, name);
		strcpy(list->name[list->used++], name);
	}
	return 0;
}

static int parse_mark(struct value *v, const char *how)
{
	u64 dscp = DEFAULT_MARK_DSCP;

	if (!strncmp(how, "dscp=", 5)) {
		if (units_number(how + 5, &dscp) || dscp > 63)
			return refuse(v->err, v->err_size, -EINVAL,
				      "--action %s: a DSCP is 0 to 63, for example mark:dscp=63",
				      v->text);
	} else if (*how && strcmp(how, "meta")) {
		return -EINVAL;
	}
	v->o->mark_meta = !strcmp(how, "meta");
	v->o->mark_dscp = dscp;
	return 0;
}

/* drop, count, mark, mark:dscp=N, mark:meta or redirect:IFACE */
static int parse_action(struct value *v)
{
	const char *colon = strchrnul(v->text, ':');
	const char *rest = *colon ? colon + 1 : colon;
	size_t n = colon - v->text;
	int i;

	for (i = 0; i < XDD_ACTION_MAX; i++)
		if (strlen(action_names[i]) == n && !strncmp(v->text, action_names[i], n))
			break;
	if (i == XDD_ACTION_MAX || (*colon && !*rest))
		return -EINVAL;
	if (i == XDD_ACTION_mark) {
		int err = parse_mark(v, rest);

		if (err)
			return err;
	} else if (i == XDD_ACTION_redirect) {
		if (!iface_valid(rest))
			return -EINVAL;
		v->o->redirect = rest;
	} else if (*rest) {
		return -EINVAL;
	}
	v->o->action = i;
	return 0;
}

static int parse_name(struct value *v)
{
	/* Else it would be taken for an option where it is an argument. */
	if (*v->text == '-' || !option_name_valid(v->text))
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

/* The text is not shown: it may hold a password. */
static int parse_nats(struct value *v)
{
	const char *wrong = bus_url_wrong(v->text);

	*(const char **)v->at = v->text;
	if (wrong)
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s: %s: write nats://HOST[:PORT] or tls://HOST[:PORT]", v->label,
			      wrong);
	return 0;
}

/* It is a part of subjects, and with an instance's name, and a dot, of a peer's name. */
static int parse_host(struct value *v)
{
	return strlen(v->text) <= GROUP_HOST_MAX ? parse_name(v) : -EINVAL;
}

/* HOST[.INSTANCE] */
static int parse_owner(struct value *v)
{
	size_t host = strcspn(v->text, ".");
	char name[GROUP_HOST_MAX + 1];

	if (host > GROUP_HOST_MAX || (v->text[host] && !option_name_valid(v->text + host + 1)))
		return -EINVAL;
	memcpy(name, v->text, host);
	name[host] = 0;
	if (*name == '-' || !option_name_valid(name))
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

static int parse_monitors(struct value *v)
{
	if (!strcmp(v->o->command, "simulate"))
		return parse_number(v);
	if (!strchr(v->text, ',') || v->text[strspn(v->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi"
							     "jklmnopqrstuvwxyz0123456789_-.,")])
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: write two or more HOST.INSTANCE with commas between them, "
			      "for example %s a.tap,b.tap",
			      v->label, v->text, v->label);
	v->o->monitor_names = v->text;
	return 0;
}

static int parse_then(struct value *v)
{
	if (!strcmp(v->text, "print")) {
		*(const char **)v->at = NULL;
		return 0;
	}
	if (strncmp(v->text, "watch:", 6) || !option_name_valid(v->text + 6))
		return -EINVAL;
	*(const char **)v->at = v->text + 6;
	return 0;
}

static int parse_netns(struct value *v)
{
	if (!*v->text || *v->text == '-' || strchr(v->text, '/'))
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

static int parse_text(struct value *v)
{
	if (!*v->text)
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

/* A file to write. editcap's -w is a window in seconds: whoever types that here would otherwise
 * get a file called 0.05.
 */
static int parse_output(struct value *v)
{
	const char *t = v->text;

	if (*t && strspn(t, "0123456789.eE+-") == strlen(t) && strpbrk(t, "0123456789"))
		return refuse(v->err, v->err_size, -EINVAL,
			      "%s %s: a number is the window in editcap; here -w names the output "
			      "file and the window is --window 50ms (a file of that name: ./%s)",
			      v->label, t, t);
	if (!*t || (*t == '-' && t[1]))
		return -EINVAL;
	/* Its file, if it is one, is not ours to replace. */
	if (!strcmp(t, "/dev/stdout"))
		t = "-";
	*(const char **)v->at = t;
	return 0;
}

/* Call @add for each word of the list of @v. Returns 0, or what it returned first. */
static int each_word(struct value *v, int (*add)(struct value *v, char *word), const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, ",")))
		err = add(v, word);
	free(copy);
	return err;
}

static int add_field(struct value *v, char *word)
{
	int field;

	if (strchr(word, '_'))
		return -EINVAL;
	for (char *c = word; *c; c++)
		if (*c == '-')
			*c = '_';
	field = name_index(field_names, word);
	if (field < 0)
		return -EINVAL;
	*(u32 *)v->at |= 1u << field;
	return 0;
}

/* --ignore is for fields that are compared by default, --include for the others. */
static int parse_fields(struct value *v)
{
	bool ignore = !strcmp(v->label, "--ignore");
	u32 *fields = v->at;
	u32 wrong;

	*fields = 0;
	if (each_word(v, add_field, v->text))
		return -EINVAL;
	wrong = *fields & (ignore ? ~(u32)XDD_DEFAULT_FIELDS : XDD_DEFAULT_FIELDS);
	if (wrong)
		return refuse(v->err, v->err_size, -EINVAL, "%s %s: by default %s is %s", v->label,
			      v->text, field_names[__builtin_ctz(wrong)],
			      ignore ? "not compared anyway" : "compared anyway");
	return 0;
}

/* One CLASS=drop or CLASS=pass of --ambiguous. */
static int add_ambiguous(struct value *v, char *word)
{
	struct option_ambiguous *ambiguous = v->at;
	char *equals = strchr(word, '=');
	int class;
	u32 bit;

	if (!equals)
		return -EINVAL;
	*equals = 0;
	class = name_index(class_words, word);
	if (class < 0 || (strcmp(equals + 1, "pass") && strcmp(equals + 1, "drop")))
		return -EINVAL;
	bit = 2u << class;
	if (ambiguous->named & bit)
		return -EINVAL;
	ambiguous->named |= bit;
	if (!strcmp(equals + 1, "pass"))
		ambiguous->pass |= bit;
	return 0;
}

static int parse_ambiguous(struct value *v)
{
	struct option_ambiguous *ambiguous = v->at;
	bool pass = !strcmp(v->text, "pass");
	u32 all = (1u << XDD_CLASS_MAX) - 2;

	memset(ambiguous, 0, sizeof(*ambiguous));
	if (!pass && strcmp(v->text, "drop"))
		return each_word(v, add_ambiguous, v->text);
	ambiguous->named = all;
	ambiguous->pass = pass ? all : 0;
	return 0;
}

static int parse_max_suppress(struct value *v)
{
	if (!strcmp(v->text, "off")) {
		*(u32 *)v->at = 0;
		return 0;
	}
	return parse_number(v);
}

static int parse_payload(struct value *v)
{
	if (!strcmp(v->text, "all")) {
		*(u32 *)v->at = 0;
		return 0;
	}
	return parse_number(v);
}

/* One A=B of --vlan map: */
static int add_vlan(struct value *v, char *word)
{
	struct option_vlan *vlan = v->at;
	char *equals = strchr(word, '=');
	u64 from, to;

	if (!equals)
		return -EINVAL;
	*equals = 0;
	if (units_number(word, &from) || units_number(equals + 1, &to))
		return -EINVAL;
	if (!from || from > 4095 || to > 4095 || vlan->maps == XDD_MAX_VLAN_MAPS)
		return -ERANGE;
	for (u32 i = 0; i < vlan->maps; i++) {
		if (vlan->from[i] == from)
			return -EINVAL;
	}
	vlan->from[vlan->maps] = from;
	vlan->to[vlan->maps] = to;
	vlan->maps++;
	return 0;
}

static int parse_vlan(struct value *v)
{
	static const char prefix[] = "map:";
	struct option_vlan *vlan = v->at;

	memset(vlan, 0, sizeof(*vlan));
	if (!strcmp(v->text, "ignore"))
		return 0;
	vlan->key = true;
	if (!strcmp(v->text, "key"))
		return 0;
	if (strncmp(v->text, prefix, strlen(prefix)))
		return -EINVAL;
	return each_word(v, add_vlan, v->text + strlen(prefix));
}

/* One TUNNEL=PORT of --tunnel-port. */
static int add_tunnel_port(struct value *v, char *word)
{
	struct option_ports *ports = v->at;
	char *equals = strchr(word, '=');
	int tunnel, err;
	u64 port;

	if (!equals)
		return -EINVAL;
	*equals = 0;
	tunnel = name_index(tunnel_names, word);
	err = tunnel < 0 ? -EINVAL : units_number(equals + 1, &port);
	if (err)
		return err;
	if (!port || port > UINT16_MAX || ports->used == XDD_TUNNEL_PORTS)
		return -ERANGE;
	ports->port[ports->used] = port;
	ports->tunnel[ports->used] = tunnel;
	ports->used++;
	return 0;
}

static int parse_tunnel_port(struct value *v)
{
	struct option_ports *ports = v->at;

	ports->used = 0;
	return each_word(v, add_tunnel_port, v->text);
}

/* A file; "-" is none here: what stream prints there are the records. */
static int parse_path(struct value *v)
{
	if (!*v->text || *v->text == '-')
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

/* ADDRESS:PORT, of IPv6 with brackets around the address. */
static int parse_address(struct value *v)
{
	union option_address *to = v->at;
	const char *colon = strrchr(v->text, ':');
	char address[INET6_ADDRSTRLEN + 2];
	size_t length = colon ? colon - v->text : 0;
	u64 port;
	int err;

	if (!length || length >= sizeof(address))
		return -EINVAL;
	err = units_number(colon + 1, &port);
	if (err || !port || port > UINT16_MAX)
		return err ?: -ERANGE;
	snprintf(address, sizeof(address), "%.*s", (int)length, v->text);
	memset(to, 0, sizeof(*to));
	to->v4.sin_family = AF_INET;
	to->v4.sin_port = htons(port);
	if (inet_pton(AF_INET, address, &to->v4.sin_addr) == 1)
		return 0;
	if (*address != '[' || address[length - 1] != ']')
		return -EINVAL;
	address[length - 1] = 0;
	memset(to, 0, sizeof(*to));
	to->v6.sin6_family = AF_INET6;
	to->v6.sin6_port = htons(port);
	return inet_pton(AF_INET6, address + 1, &to->v6.sin6_addr) == 1 ? 0 : -EINVAL;
}

static int parse_delimiter(struct value *v)
{
	const char *text = strcmp(v->text, "\\t") ? v->text : "\t";

	if (strlen(text) != 1)
		return -EINVAL;
	*(u8 *)v->at = *text;
	return 0;
}

/* The expression itself is compiled for each link type: capture/filter.h. */
static int parse_filter(struct value *v)
{
	if (!v->text[strspn(v->text, " \t\n")])
		return -EINVAL;
	*(const char **)v->at = v->text;
	return 0;
}

#define MAX_SAMPLE_RATE 1000000

/* N:FILE of --sample-dropped. What run prints on stdout is no capture. */
static int parse_sample(struct value *v)
{
	const char *colon = strchr(v->text, ':');
	char number[32];
	u64 rate;
	int err;

	if (!colon || colon - v->text >= (long)sizeof(number) || !colon[1] || !strcmp(colon, ":-"))
		return -EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)(colon - v->text), v->text);
	err = units_count(number, &rate);
	if (err || !rate || rate > MAX_SAMPLE_RATE)
		return err ?: -ERANGE;
	v->o->sample_rate = rate;
	*(const char **)v->at = colon + 1;
	return 0;
}

static int add_verdict(struct value *v, char *word)
{
	int kind = name_index(event_kind_names, word);

	if (!strcmp(word, "bypassed"))
		*(u32 *)v->at |= XDD_EVENT_BYPASSED;
	else if (kind >= 0)
		*(u32 *)v->at |= 1u << kind;
	else
		return -EINVAL;
	return 0;
}

static int parse_verdict(struct value *v)
{
	*(u32 *)v->at = 0;
	return each_word(v, add_verdict, v->text);
}

static int parse_distribution(struct value *v)
{
	static const char prefix[] = "zipf:";
	char *end;

	v->o->distribution = 0;
	if (!strcmp(v->text, "uniform"))
		return 0;
	if (strncmp(v->text, prefix, strlen(prefix)) || !isdigit(v->text[strlen(prefix)]))
		return -EINVAL;
	v->o->distribution = strtod(v->text + strlen(prefix), &end);
	if (*end)
		return -EINVAL;
	return v->o->distribution >= 0.01 && v->o->distribution <= 10 ? 0 : -ERANGE;
}

static const char *const mode_names[] = { "native", "generic", "auto", NULL };
static const char *const off_on_names[] = { "off", "on", NULL };
static const char *const unit_names[] = { "s", "ms", "us", "ns", NULL };
static const char *const direction_names[] = { "any", "in", "out", NULL };
static const char *const format_names[] = { "pcap", "pcapng", NULL };
#define FIRST_NAME(name, counters) #name,
static const char *const first_names[] = { ACBF_FIRSTS(FIRST_NAME) NULL };
static const char *const truth_names[] = { "stream", "delivered", NULL };

const struct kind kind_flag = { .parse = parse_flag };
const struct kind kind_time = {
	.parse = parse_time,
	.what = "a time from 1ns to 366 days with a unit (ns, us, ms, s, min, h)",
	.least = 1,
	.most = MAX_WINDOW_NS,
};
const struct kind kind_interval = {
	.parse = parse_time,
	.what = "a time from 100ms to 1h",
	.least = 100000000,
	.most = 3600 * 1000000000ull,
};
const struct kind kind_silence = {
	.parse = parse_time,
	.what = "a time from 300ms to 10min",
	.least = 300 * MILLISECOND_NS,
	.most = 600 * XDD_SECOND_NS,
};
const struct kind kind_check = {
	.parse = parse_time,
	.what = "a time from 1ms to 1min",
	.least = MILLISECOND_NS,
	.most = 60 * XDD_SECOND_NS,
};
const struct kind kind_nats = {
	.parse = parse_nats,
	.what = "URLs of NATS servers",
};
const struct kind kind_host = {
	.parse = parse_host,
	.what = "a name of 1 to 30 letters, digits, - and _",
};
const struct kind kind_owner = {
	.parse = parse_owner,
	.what = "a host, or a host and an instance: HOST or HOST.INSTANCE",
};
const struct kind kind_size = {
	.parse = parse_size,
	.what = "a size of at least 64 bytes (KiB, MiB, GiB, or kB, MB, GB)",
};
const struct kind kind_count = {
	.parse = parse_count,
	.what = "a count of at least 1 (k, M, G, T, or Ki, Mi, Gi, Ti)",
};
const struct kind kind_keys = {
	.parse = parse_keys,
	.what = "a count from 0 (k, M, G, T, or Ki, Mi, Gi, Ti)",
};
const struct kind kind_deletes = {
	.parse = parse_deletes,
	.what = "a count from 0, or old: and such a count",
};
const struct kind kind_key_range = {
	.parse = parse_key_range,
	.what = "a count, or two such as 50-250",
};
const struct kind kind_hosts = {
	.parse = parse_number,
	.what = "a number of hosts from 2 to 100000",
	.least = 2,
	.most = 100000,
};
const struct kind kind_push = {
	.parse = parse_push,
	.what = "a rule (false-rate, printed, every:T, dirty:P, never)",
};
const struct kind kind_bound = {
	.parse = parse_choice,
	.what = "a kind of misses (model, member)",
	.choices = bound_names,
};
const struct kind kind_weights = {
	.parse = parse_weights,
	.what = "two numbers such as 1:10, from 0 to 1e9, not both 0",
};
const struct kind kind_rate = {
	.parse = parse_rate,
	.what = "a count a second (k, M, G, T) or, with bit behind it, of bits",
};
const struct kind kind_cost = {
	.parse = parse_cost,
	.what = "a number from 1e-9 to 1e9",
};
const struct kind kind_bytes = {
	.parse = parse_number,
	.what = "a number of bytes from 1 to 65535",
	.least = 1,
	.most = 65535,
};
const struct kind kind_ratio = {
	.parse = parse_ratio,
	.what = "a share above 0 and below 1 (0.001, 1e-3, 0.1%, 1/1000)",
};
const struct kind kind_audit = {
	.parse = parse_audit,
	.what = "a share above 0 and up to 1 (1/256, 0.1%), or off",
};
const struct kind kind_ticks = {
	.parse = parse_number,
	.what = "a number of ticks from 1 to 119",
	.least = 1,
	.most = XDD_MAX_WINDOW_TICKS,
};
const struct kind kind_hashes = {
	.parse = parse_number,
	.what = "a number from 1 to 8",
	.least = 1,
	.most = XDD_MAX_HASHES,
};
const struct kind kind_growth = {
	.parse = parse_choice,
	.what = "a way to grow (off, density, cardinality)",
	.choices = growth_names,
};
const struct kind kind_filters = {
	.parse = parse_number,
	.what = "a number of filters from 2 to 8",
	.least = 2,
	.most = XDD_MAX_FILTERS,
};
const struct kind kind_peers = {
	.parse = parse_number,
	.what = "a number of peers from 1 to 64",
	.least = 1,
	.most = XDD_MAX_PEERS,
};
const struct kind kind_replica_action = {
	.parse = parse_choice,
	.what = "what happens to such packets (drop, mark, count)",
	.choices = replica_action_names,
};
const struct kind kind_burst = {
	.parse = parse_burst,
	.what = "a number of times from 1x to 1000x",
};
const struct kind kind_slices = {
	.parse = parse_number,
	.what = "a number of slices from 1 to 4294967295",
	.least = 1,
	.most = UINT32_MAX,
};
const struct kind kind_engine = {
	.parse = parse_choice,
	.what = "an engine (see xdp-dedup help engines)",
	.choices = engine_names,
};
const struct kind kind_clock = {
	.parse = parse_choice,
	.what = "a clock (auto, exact, coarse)",
	.choices = clock_names,
	.automatic = true,
};
const struct kind kind_slicing = {
	.parse = parse_slicing,
	.what = "a way of slicing (none, horizontal, vertical, hv, vh, or K1xK2 such as 2x2)",
	.choices = slicing_names,
};
const struct kind kind_placement = {
	.parse = parse_choice,
	.what = "a placement (auto, shared, percpu, tree)",
	.choices = placement_names,
	.automatic = true,
};
const struct kind kind_tree = {
	.parse = parse_choice,
	.what = "a kind of tree (sparse, dense)",
	.choices = tree_names,
};
const struct kind kind_top_down = {
	.parse = parse_number,
	.what = "a level from 1 to 11",
	.least = 1,
	.most = 11,
};
const struct kind kind_levels = {
	.parse = parse_number,
	.what = "2 or 3 levels",
	.least = 2,
	.most = 3,
};
const struct kind kind_fan_out = {
	.parse = parse_number,
	.what = "a number of children from 1 to 65535, with plan cluster from 2",
	.least = 1,
	.most = 65535,
};
const struct kind kind_depth = {
	.parse = parse_number,
	.what = "a number of levels from 2 to 12",
	.least = 2,
	.most = XDD_TREE_MAX_LEVELS,
};
const struct kind kind_key = {
	.parse = parse_key,
	.what = "a key (packet, frame, flow, biflow, src, dst, srcdst, offset:LEN@POS)",
	.choices = key_names,
};
const struct kind kind_non_ip = { .parse = parse_non_ip, .what = "pass or frame" };
const struct kind kind_fields = {
	.parse = parse_fields,
	.what = "fields (see xdp-dedup help policy)",
};
const struct kind kind_payload = {
	.parse = parse_payload,
	.what = "a number of bytes from 1 to 65535, or all",
	.least = 1,
	.most = UINT16_MAX,
};
const struct kind kind_vlan = {
	.parse = parse_vlan,
	.what = "ignore, key, or map: with at most 8 VLANs A=B, each A once from 1, B from 0 to "
		"4095",
};
const struct kind kind_scope = {
	.parse = parse_choice,
	.what = "a scope (all, interface)",
	.choices = scope_names,
};
const struct kind kind_ambiguous = {
	.parse = parse_ambiguous,
	.what = "drop, pass, or CLASS=drop and CLASS=pass, each class (ack, tcp, udp, other) once",
};
const struct kind kind_max_suppress = {
	.parse = parse_max_suppress,
	.what = "a number of duplicates from 1 to 1000000000, or off",
	.least = 1,
	.most = 1000000000,
};
const struct kind kind_recovery = {
	.parse = parse_recovery,
	.what = "vector, vector:N of 2 to 256, or match",
};
const struct kind kind_vni = {
	.parse = parse_choice,
	.what = "a policy (ignore, key)",
	.choices = policy_names,
};
const struct kind kind_tunnel_port = {
	.parse = parse_tunnel_port,
	.what = "at most 8 ports, each as TUNNEL=PORT (vxlan, geneve, gtpu, mpls)",
};
const struct kind kind_hash = {
	.parse = parse_choice,
	.what = "a hash (keyed, siphash, xxh64)",
	.choices = hash_names,
};
const struct kind kind_seed = {
	.parse = parse_seed,
	.what = "a number of 64 bits (decimal or 0x...) or random",
};
const struct kind kind_action = {
	.parse = parse_action,
	.what = "an action (drop, count, mark, mark:dscp=N, mark:meta, redirect:IFACE)",
};
const struct kind kind_forward = {
	.parse = parse_forward,
	.what = "the name of an interface (1 to 15 characters), or none",
};
const struct kind kind_watch_action = {
	.parse = parse_choice,
	.what = "what is done by a watch set (only, skip, drop, select)",
	.choices = watch_names,
};
const struct kind kind_ifaces = {
	.parse = parse_ifaces,
	.what = "names of interfaces with commas between them, at most 16",
};
const struct kind kind_mode = {
	.parse = parse_mode,
	.what = "a mode (native, generic, auto)",
	.choices = mode_names,
};
const struct kind kind_when = {
	.parse = parse_choice,
	.what = "on, off or auto",
	.choices = off_on_names,
	.automatic = true,
};
const struct kind kind_on_off = { .parse = parse_on_off, .what = "on or off" };
const struct kind kind_name = {
	.parse = parse_name,
	.what = "a name (1 to 32 letters, digits, '_' and '-', which is not the first)",
};
const struct kind kind_netns = {
	.parse = parse_netns,
	.what = "the name of a network namespace, as `ip netns list` prints it",
};
const struct kind kind_output = {
	.parse = parse_output,
	.what = "the name of a file to write (- is stdout, ./-x a file called -x)",
};
const struct kind kind_input = {
	.parse = parse_text,
	.what = "the name of a file to read (- is stdin)",
};
const struct kind kind_text = { .parse = parse_text, .what = "a list of names" };
const struct kind kind_format = {
	.parse = parse_choice,
	.what = "a format (pcap, pcapng)",
	.choices = format_names,
};
const struct kind kind_slice_list = {
	.parse = parse_slice_list,
	.what = "a list of slices",
};
const struct kind kind_cpu = {
	.parse = parse_cpu,
	.what = "a CPU's number",
};
const struct kind kind_fault_policy = {
	.parse = parse_fault_policy,
	.what = "a policy (distinct, duplicate, or vote:X such as vote:3)",
	.choices = fault_names,
};
const struct kind kind_l1 = {
	.parse = parse_choice,
	.what = "1m, 2m, 3m or optimal",
	.choices = first_names,
};
const struct kind kind_counters = {
	.parse = parse_number,
	.what = "a number of counters from 1 to 1000",
	.least = 1,
	.most = 1000,
};
const struct kind kind_positions = {
	.parse = parse_number,
	.what = "a number of bits from 1 to 32",
	.least = 1,
	.most = ACBF_MAX_HASHES,
};
const struct kind kind_algorithm = {
	.parse = parse_choice,
	.what = "raw, bfs, cfs, cfsp, smallest-first or best",
	.choices = joint_names,
};
const struct kind kind_site_timeout = {
	.parse = parse_time,
	.what = "a time from 10ms to 30s",
	.least = 10 * MILLISECOND_NS,
	.most = 30000 * MILLISECOND_NS,
};
const struct kind kind_slices_of = {
	.parse = parse_slices_of,
	.what = "a number of slices from 1 to 4294967295",
	.least = 1,
	.most = UINT32_MAX,
};
const struct kind kind_protocol = {
	.parse = parse_choice,
	.what = "parallel, pipeline or one-pass",
	.choices = protocol_names,
};
const struct kind kind_primitive = {
	.parse = parse_choice,
	.what = "first-test or test-and-set",
	.choices = primitive_names,
};
const struct kind kind_batch = {
	.parse = parse_number,
	.what = "a number of keys from 1 to 1024",
	.least = 1,
	.most = PRODUCER_BATCH,
};
const struct kind kind_rounds = {
	.parse = parse_number,
	.what = "a number of rounds from 1 to 60",
	.least = 1,
	.most = 60,
};
const struct kind kind_monitors = {
	.parse = parse_number,
	.what = "a number of monitors from 2 to 255",
	.least = 2,
	.most = JOINT_MONITORS_MAX,
};
const struct kind kind_monitors_of = {
	.parse = parse_monitors,
	.what = "a number of monitors from 2 to 255",
	.least = 2,
	.most = JOINT_MONITORS_MAX,
};
const struct kind kind_then = {
	.parse = parse_then,
	.what = "what to do with common keys (print, or watch:NAME)",
};
const struct kind kind_sizes = {
	.parse = parse_sizes,
	.what = "a number of keys up to 64M, or two, the smaller one first",
};
const struct kind kind_share = {
	.parse = parse_share,
	.what = "a share from 0 to 1 (0.5, 20%, 1/3)",
};
const struct kind kind_truth = {
	.parse = parse_choice,
	.what = "stream or delivered",
	.choices = truth_names,
};
const struct kind kind_variant = {
	.parse = parse_choice,
	.what = "a variant (published, algorithm1)",
	.choices = variant_names,
};
const struct kind kind_sbf_p = {
	.parse = parse_number,
	.what = "a number of cells from 1 to 64",
	.least = 1,
	.most = 64,
};
const struct kind kind_sbf_max = {
	.parse = parse_number,
	.what = "a value from 1 to 255",
	.least = 1,
	.most = 255,
};
const struct kind kind_distribution = {
	.parse = parse_distribution,
	.what = "uniform, or zipf:ALPHA with ALPHA from 0.01 to 10",
};
const struct kind kind_runs = {
	.parse = parse_number,
	.what = "a number of runs from 1 to 1000000",
	.least = 1,
	.most = 1000000,
};
const struct kind kind_field = {
	.parse = parse_number,
	.what = "a field from 1 to 1000000",
	.least = 1,
	.most = 1000000,
};
const struct kind kind_delimiter = {
	.parse = parse_delimiter,
	.what = "one byte, or \\t",
};
const struct kind kind_time_unit = {
	.parse = parse_choice,
	.what = "a unit (s, ms, us, ns)",
	.choices = unit_names,
};
const struct kind kind_path = {
	.parse = parse_path,
	.what = "the name of a file (./-x for a file called -x)",
};
const struct kind kind_filter = {
	.parse = parse_filter,
	.what = "an expression of tcpdump",
};
const struct kind kind_direction = {
	.parse = parse_choice,
	.what = "a direction (any, in, out)",
	.choices = direction_names,
};
const struct kind kind_seconds = {
	.parse = parse_number,
	.what = "a number of seconds from 1 to 86400",
	.least = 1,
	.most = 86400,
};
const struct kind kind_address = {
	.parse = parse_address,
	.what = "ADDRESS:PORT, an IPv4 address, or an IPv6 one in brackets, and a port from 1 to "
		"65535",
};
const struct kind kind_sample = {
	.parse = parse_sample,
	.what = "N:FILE, N from 1 to 1000000 packets a second",
};
#define AND_REASON(name, help) ", " #name
const struct kind kind_verdict = {
	.parse = parse_verdict,
	.what = "a list of distinct, duplicate, bypassed" XDD_BYPASSES(AND_REASON),
};
const struct kind kind_snaplen = {
	.parse = parse_number,
	.what = "a number of bytes from 14 to 2048",
	.least = 14,
	.most = XDD_EVENT_BYTES,
};
