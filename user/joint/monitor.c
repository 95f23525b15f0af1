/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/joint/message.h"

int joint_monitor_open(struct joint_monitor *m, const struct joint_plan *plan, u32 id,
		       const u64 *digests, u64 n)
{
	*m = (struct joint_monitor){ .plan = plan, .id = id, .n = n, .passed = 1 };
	if (n > JOINT_KEYS_MAX)
		return -E2BIG;
	m->keys = malloc((n + 1) * sizeof(*m->keys));
	m->from = malloc((n + 1) * sizeof(*m->from));
	if (!m->keys || !m->from)
		return -ENOMEM;
	for (u64 i = 0; i < n; i++) {
		m->keys[i] = digests[i];
		m->from[i] = i;
	}
	return 0;
}

void joint_monitor_close(struct joint_monitor *m)
{
	free(m->keys);
	free(m->from);
	joint_set_free(&m->sent);
	*m = (struct joint_monitor){ 0 };
}

/* Which round of filters this is: bfs has told counts before. */
static u32 filter_round(const struct joint_monitor *m)
{
	return m->plan->algorithm == JOINT_bfs ? m->step - 1 : m->step;
}

/* The keys that are left as a filter of @length, into m->sent. */
static int make_filter(struct joint_monitor *m, u32 hashes, u64 length)
{
	u64 *at = malloc((m->n * hashes + 1) * sizeof(*at)), n = 0;

	joint_set_free(&m->sent);
	if (!at)
		return -ENOMEM;
	for (u64 i = 0; i < m->n; i++)
		for (u32 hash = 0; hash < hashes; hash++)
			at[n++] =
				joint_position(m->plan, filter_round(m), hash, m->keys[i], length);
	m->hashes += n;
	return joint_set_make(&m->sent, length, at, n);
}

static int send_filter(struct joint_monitor *m, struct bytes *out)
{
	const struct joint_plan *plan = m->plan;
	u32 hashes = joint_hashes(plan, filter_round(m));
	double target = joint_target(plan, filter_round(m), m->passed);
	u64 length = m->length ?: joint_length_power(m->n, hashes, target);
	bool coded = plan->algorithm == JOINT_best;
	int rc = make_filter(m, hashes, length);

	if (rc)
		return rc;
	/* Of a key that at least T are to have, more than this monitor's filter may be wrong, each as
	 * wrong as was planned for.
	 */
	if (plan->at_least == plan->monitors)
		target = joint_set_fill(&m->sent);
	m->passed *= joint_passes(plan, target);
	bytes_start(out, coded ? JOINT_GAPS : JOINT_BITS, m->step);
	if (coded)
		joint_put_gaps(out, &m->sent);
	else
		joint_put_bits(out, &m->sent);
	return bytes_end(out);
}

static int send_words(struct joint_monitor *m, struct bytes *out)
{
	u64 *at = malloc((m->n + 1) * sizeof(*at));
	struct joint_set all;
	int rc;

	if (!at)
		return -ENOMEM;
	memcpy(at, m->keys, m->n * sizeof(*at));
	rc = joint_set_make(&all, 0, at, m->n);
	if (rc)
		return rc;
	bytes_start(out, JOINT_WORDS, m->step);
	joint_put_words(out, all.at, all.n);
	joint_set_free(&all);
	return bytes_end(out);
}

static int send_count(struct joint_monitor *m, struct bytes *out)
{
	bytes_start(out, JOINT_COUNT, m->step);
	bytes_put_number(out, m->n);
	return bytes_end(out);
}

static int send(struct joint_monitor *m, struct bytes *out)
{
	switch (m->plan->algorithm) {
	case JOINT_raw:
		return send_words(m, out);
	case JOINT_smallest_first:
		if (!m->step)
			return send_count(m, out);
		return m->length == m->id ? send_words(m, out) : 0;
	case JOINT_bfs:
		return m->step ? send_filter(m, out) : send_count(m, out);
	default:
		return send_filter(m, out);
	}
}

static bool may_be_common(struct joint_monitor *m, const struct joint_set *common, u32 hashes,
			  u64 key)
{
	for (u32 i = 0; i < hashes; i++) {
		m->lookups++;
		if (!joint_set_has(common, joint_position(m->plan, filter_round(m), i, key,
							  common->length)))
			return false;
	}
	return true;
}

/* Only keys that are in @common, by all their hashes or, of digests, as they are, stay. */
static void filter(struct joint_monitor *m, struct joint_set *common)
{
	u32 hashes = joint_is_exact(m->plan) ? 0 : joint_hashes(m->plan, filter_round(m));
	u64 n = 0;

	joint_set_index(common);
	for (u64 i = 0; i < m->n; i++) {
		if (hashes ? !may_be_common(m, common, hashes, m->keys[i])
			   : !joint_set_has(common, m->keys[i]))
			continue;
		m->keys[n] = m->keys[i];
		m->from[n++] = m->from[i];
	}
	m->n = n;
}

/* Counts came first: what follows from them. */
static int take_count(struct joint_monitor *m, const struct bytes *message)
{
	struct bytes_in in;
	u64 number;

	if (bytes_open(&in, message, JOINT_COUNT, m->step) || bytes_get_number(&in, &number) ||
	    in.n)
		return -EBADMSG;
	if (m->plan->algorithm == JOINT_bfs) {
		if (number < m->n || number > JOINT_KEYS_MAX)
			return -EBADMSG;
		number =
			joint_length(number, joint_hashes(m->plan, 0), joint_target(m->plan, 0, 1));
	}
	m->length = number;
	m->step++;
	return 0;
}

static int get_common(const struct joint_monitor *m, const struct bytes *message, u64 *turn,
		      struct joint_set *common)
{
	struct bytes_in in;

	switch (m->plan->algorithm) {
	case JOINT_bfs:
		if (bytes_open(&in, message, JOINT_BITS, m->step))
			return -EBADMSG;
		return joint_get_bits(&in, common);
	case JOINT_smallest_first:
		if (bytes_open(&in, message, JOINT_WORDS, m->step) || bytes_get_number(&in, turn))
			return -EBADMSG;
		return joint_get_words(&in, common);
	case JOINT_raw:
		if (bytes_open(&in, message, JOINT_WORDS, m->step))
			return -EBADMSG;
		return joint_get_words(&in, common);
	default:
		if (bytes_open(&in, message, JOINT_GAPS, m->step))
			return -EBADMSG;
		return joint_get_part(&in, &m->sent, common);
	}
}

static int take(struct joint_monitor *m, const struct bytes *message)
{
	bool counts = m->plan->algorithm == JOINT_bfs || m->plan->algorithm == JOINT_smallest_first;
	struct joint_set common = { 0 };
	u64 turn = m->length;
	int rc;

	if (!m->begun)
		return -EBADMSG;
	if (counts && !m->step)
		return take_count(m, message);
	rc = get_common(m, message, &turn, &common);
	if (!rc && m->plan->algorithm == JOINT_bfs && common.length != m->length)
		rc = -EBADMSG;
	if (!rc) {
		filter(m, &common);
		m->step++;
		m->length = turn;
		m->done = m->step == joint_steps(m->plan);
	}
	joint_set_free(&common);
	return rc;
}

int joint_monitor_round(struct joint_monitor *m, const struct bytes *in, struct bytes *out)
{
	int rc = in ? take(m, in) : 0;

	out->n = 0;
	m->begun |= !in;
	return rc || m->done ? rc : send(m, out);
}
