/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user/joint/orders.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MOST_PERIOD_NS (366ull * 86400 * 1000000000)

void order_put_text(struct bytes *b, const char *text)
{
	bytes_put_number(b, strlen(text));
	for (; *text; text++)
		bytes_put(b, *text);
}

int order_get_text(struct bytes_in *in, char *text, size_t size)
{
	u64 n;

	if (bytes_get_number(in, &n) || n >= size || n > in->n)
		return -EBADMSG;
	for (u64 i = 0; i < n; i++) {
		u8 byte = in->at[i];

		text[i] = byte < ' ' && byte != '\t' ? '?' : byte == 127 ? '?' : byte;
	}
	text[n] = 0;
	in->at += n;
	in->n -= n;
	return 0;
}

static u64 word_of(double number)
{
	u64 word;

	memcpy(&word, &number, sizeof(word));
	return word;
}

int order_put_start(struct bytes *b, const struct order_start *start)
{
	const struct joint_plan *plan = &start->plan;

	bytes_start(b, ORDER_START, 0);
	bytes_put_number(b, plan->algorithm);
	bytes_put_number(b, plan->monitors);
	bytes_put_number(b, plan->at_least);
	bytes_put_number(b, plan->rounds);
	bytes_put_word(b, word_of(plan->epsilon));
	bytes_put_word(b, plan->seed);
	bytes_put_number(b, start->id);
	bytes_put_number(b, start->period_ns);
	order_put_text(b, start->watch);
	return bytes_end(b);
}

/* A number that 32 bits hold. */
static int get_u32(struct bytes_in *in, u32 *number)
{
	u64 wide;

	if (bytes_get_number(in, &wide) || wide > UINT32_MAX)
		return -EBADMSG;
	*number = wide;
	return 0;
}

static int get_plan(struct bytes_in *in, struct joint_plan *plan)
{
	char err[ORDER_TEXT_MAX];
	u64 epsilon;

	*plan = (struct joint_plan){ 0 };
	if (get_u32(in, &plan->algorithm) || get_u32(in, &plan->monitors) ||
	    get_u32(in, &plan->at_least) || get_u32(in, &plan->rounds) ||
	    bytes_get_word(in, &epsilon) || bytes_get_word(in, &plan->seed))
		return -EBADMSG;
	memcpy(&plan->epsilon, &epsilon, sizeof(epsilon));
	if (plan->algorithm >= JOINT_ALGORITHM_MAX || !(plan->epsilon > 0 && plan->epsilon < 1) ||
	    !isnormal(plan->epsilon))
		return -EBADMSG;
	return joint_plan_check(plan, err, sizeof(err)) ? -EBADMSG : 0;
}

int order_get_start(const struct bytes *message, struct order_start *start)
{
	struct bytes_in in;

	if (bytes_open(&in, message, ORDER_START, 0) || get_plan(&in, &start->plan) ||
	    get_u32(&in, &start->id) || bytes_get_number(&in, &start->period_ns) ||
	    order_get_text(&in, start->watch, sizeof(start->watch)) || in.n)
		return -EBADMSG;
	return start->id < start->plan.monitors && start->period_ns <= MOST_PERIOD_NS ? 0
										      : -EBADMSG;
}

int order_put(struct bytes *b, enum order order, const u64 *numbers, u32 n)
{
	bytes_start(b, order, 0);
	for (u32 i = 0; i < n; i++)
		bytes_put_number(b, numbers[i]);
	return bytes_end(b);
}

int order_get(const struct bytes *message, enum order order, u64 *numbers, u32 n)
{
	struct bytes_in in;

	if (bytes_open(&in, message, order, 0))
		return -EBADMSG;
	for (u32 i = 0; i < n; i++)
		if (bytes_get_number(&in, &numbers[i]))
			return -EBADMSG;
	return in.n ? -EBADMSG : 0;
}

int order_put_refused(struct bytes *b, const char *why)
{
	bytes_start(b, ORDER_REFUSED, 0);
	order_put_text(b, why);
	return bytes_end(b);
}

int order_get_refused(const struct bytes *message, char *why)
{
	struct bytes_in in;

	if (bytes_open(&in, message, ORDER_REFUSED, 0))
		return -EBADMSG;
	return order_get_text(&in, why, ORDER_TEXT_MAX);
}
