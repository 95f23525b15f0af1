/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/coordinator.h"

#include <errno.h>
#include <stdlib.h>

#include "user/joint/gaps.h"
#include "user/joint/message.h"

void joint_coordinator_open(struct joint_coordinator *c, const struct joint_plan *plan)
{
	*c = (struct joint_coordinator){ .plan = plan };
}

static u8 type_of(const struct joint_plan *plan)
{
	if (plan->algorithm == JOINT_best)
		return JOINT_GAPS;
	return plan->algorithm == JOINT_raw ? JOINT_WORDS : JOINT_BITS;
}

static int get_set(const struct joint_coordinator *c, const struct bytes *message,
		   struct joint_set *s)
{
	struct bytes_in in;
	u8 type = type_of(c->plan);

	*s = (struct joint_set){ 0 };
	if (bytes_open(&in, message, type, c->step))
		return -EBADMSG;
	if (type == JOINT_GAPS)
		return joint_get_gaps(&in, s);
	return type == JOINT_WORDS ? joint_get_words(&in, s) : joint_get_bits(&in, s);
}

/* Lengths first: the sum is as long as the longest, and all others go into it. */
static int find_length(const struct joint_coordinator *c, const struct bytes *in, u64 *longest,
		       u32 *whose)
{
	bool equal = c->plan->algorithm == JOINT_bfs;
	u8 type = type_of(c->plan);
	struct bytes_in message;
	u64 length;

	*longest = 0;
	for (u32 i = 0; type != JOINT_WORDS && i < c->plan->monitors; i++) {
		*whose = i;
		if (bytes_open(&message, &in[i], type, c->step) ||
		    joint_peek_length(message, type == JOINT_GAPS, &length) || !length)
			return -EBADMSG;
		if (equal ? i && length != *longest : length & (length - 1))
			return -EBADMSG;
		if (length > *longest)
			*longest = length;
	}
	return 0;
}

static int sum_up(const struct joint_coordinator *c, const struct bytes *in, struct joint_sum *sum,
		  u32 *whose)
{
	const u32 n = c->plan->monitors;
	int rc = find_length(c, in, &sum->length, whose);

	for (u32 i = 0; !rc && i < n; i++) {
		struct joint_set s;

		*whose = i;
		rc = get_set(c, &in[i], &s) ?: joint_sum_add(sum, &s, c->plan->at_least, n - 1 - i);
		joint_set_free(&s);
	}
	return rc;
}

/* The same for all. */
static int tell_all(struct joint_coordinator *c, const struct joint_sum *sum, struct bytes *out)
{
	struct joint_set all = { .length = sum->length, .n = sum->n, .at = sum->at };

	c->multicast = true;
	bytes_start(out, type_of(c->plan), c->step);
	if (c->plan->algorithm == JOINT_raw)
		joint_put_words(out, all.at, all.n);
	else
		joint_put_bits(out, &all);
	return bytes_end(out);
}

/* Each what its own filter has of it. */
static int tell_each(struct joint_coordinator *c, const struct bytes *in,
		     const struct joint_sum *sum, struct bytes *out)
{
	int rc = 0;

	c->multicast = false;
	for (u32 i = 0; !rc && i < c->plan->monitors; i++) {
		struct joint_set own;

		rc = get_set(c, &in[i], &own);
		if (rc)
			return rc;
		bytes_start(&out[i], JOINT_GAPS, c->step);
		rc = joint_put_part(&out[i], sum, &own) ?: bytes_end(&out[i]);
		joint_set_free(&own);
	}
	return rc;
}

static int count_shared(struct joint_coordinator *c, const struct joint_sum *sum)
{
	struct joint_set all = { .length = sum->length, .n = sum->n, .at = sum->at };
	struct bytes coded = { 0 };
	int rc;

	bytes_start(&coded, JOINT_GAPS, c->step);
	joint_put_gaps(&coded, &all);
	rc = bytes_end(&coded);
	c->shared_bits = 8 * coded.n;
	bytes_free(&coded);
	return rc;
}

static int combine(struct joint_coordinator *c, const struct bytes *in, struct bytes *out,
		   u32 *whose)
{
	bool all = c->plan->algorithm == JOINT_bfs || c->plan->algorithm == JOINT_raw;
	struct joint_sum sum = { 0 };
	int rc = sum_up(c, in, &sum, whose);

	if (!rc && all)
		rc = tell_all(c, &sum, out);
	else if (!rc)
		rc = tell_each(c, in, &sum, out) ?: count_shared(c, &sum);
	joint_sum_free(&sum);
	return rc;
}

static int get_counts(const struct joint_coordinator *c, const struct bytes *in, u64 *counts,
		      u32 *whose)
{
	for (u32 i = 0; i < c->plan->monitors; i++) {
		struct bytes_in number;

		*whose = i;
		if (bytes_open(&number, &in[i], JOINT_COUNT, 0) ||
		    bytes_get_number(&number, &counts[i]) || number.n || counts[i] > JOINT_KEYS_MAX)
			return -EBADMSG;
	}
	return 0;
}

/* By counts, the smallest first. */
static void put_in_order(struct joint_coordinator *c, const u64 *counts)
{
	for (u32 i = 0; i < c->plan->monitors; i++) {
		u32 at = i;

		for (; at && counts[c->order[at - 1]] > counts[i]; at--)
			c->order[at] = c->order[at - 1];
		c->order[at] = i;
	}
}

static int take_counts(struct joint_coordinator *c, const struct bytes *in, struct bytes *out,
		       u32 *whose)
{
	u64 counts[JOINT_MONITORS_MAX], most = 0;
	int rc = get_counts(c, in, counts, whose);

	if (rc)
		return rc;
	for (u32 i = 0; i < c->plan->monitors; i++)
		most = counts[i] > most ? counts[i] : most;
	put_in_order(c, counts);
	c->multicast = true;
	bytes_start(out, JOINT_COUNT, 0);
	bytes_put_number(out, c->plan->algorithm == JOINT_bfs ? most : c->order[0]);
	return bytes_end(out);
}

/* What the one whose turn it is has sent goes to all. */
static int pass_on(struct joint_coordinator *c, const struct bytes *in, struct bytes *out,
		   u32 *whose)
{
	const u32 n = c->plan->monitors;
	struct joint_set words = { 0 };
	struct bytes_in message;
	int rc;

	*whose = c->order[c->step - 1];
	if (bytes_open(&message, &in[*whose], JOINT_WORDS, c->step))
		return -EBADMSG;
	rc = joint_get_words(&message, &words);
	if (rc)
		return rc;
	c->multicast = true;
	bytes_start(out, JOINT_WORDS, c->step);
	bytes_put_number(out, c->step < n ? c->order[c->step] : n);
	joint_put_words(out, words.at, words.n);
	joint_set_free(&words);
	return bytes_end(out);
}

int joint_coordinator_round(struct joint_coordinator *c, const struct bytes *in, struct bytes *out,
			    u32 *whose)
{
	bool counts = c->plan->algorithm == JOINT_bfs || c->plan->algorithm == JOINT_smallest_first;
	int rc;

	c->shared_bits = 0;
	if (counts && !c->step)
		rc = take_counts(c, in, out, whose);
	else if (c->plan->algorithm == JOINT_smallest_first)
		rc = pass_on(c, in, out, whose);
	else
		rc = combine(c, in, out, whose);
	if (!rc) {
		c->step++;
		c->done = c->step == joint_steps(c->plan);
	}
	return rc;
}
