/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the coordinator of live monitors asks of them, beside the rounds of joint detection itself, and what they
 * answer: one message each (bytes.h), of round 0.
 */
#ifndef USER_JOINT_ORDERS_H
#define USER_JOINT_ORDERS_H

#include "user/joint/plan.h"
#include "user/joint/bytes.h"

#define ORDER_TEXT_MAX 512
#define ORDER_NAME_MAX 33 /* of an instance, its end included */

/*
 * X(name, number): behind those of message.h, numbers are never used again.
 * START   collect keys from now on; STARTED: it does
 * END     it was long enough; SEEN: so many keys have come
 * BEGIN   the first message of the algorithm, which is the answer
 * LEFT    the answer to its last one: so many keys may be common
 * LOAD    put them into the watch set of START, or only see whether that can be done; LOADED
 * SHOW    what are they of? SHOWN
 * REFUSED instead of any answer: why not
 */
#define ORDERS(X)      \
	X(START, 32)   \
	X(STARTED, 33) \
	X(END, 34)     \
	X(SEEN, 35)    \
	X(BEGIN, 36)   \
	X(LEFT, 37)    \
	X(LOAD, 38)    \
	X(LOADED, 39)  \
	X(SHOW, 40)    \
	X(SHOWN, 41)   \
	X(REFUSED, 42)

#define ORDER_ENUM(name, number) ORDER_##name = number,
enum order { ORDERS(ORDER_ENUM) };

struct order_start {
	struct joint_plan plan;
	u32 id;	       /* the monitor's number in it */
	u64 period_ns; /* how long keys are collected, at least */
	char watch
		[ORDER_NAME_MAX]; /* the instance whose watch set is to have the common keys, or empty */
};

/* Write one of START; with numbers, or none, of any other. Returns 0 or -ENOMEM. */
int order_put_start(struct bytes *b, const struct order_start *start);
int order_put(struct bytes *b, enum order order, const u64 *numbers, u32 n);
int order_put_refused(struct bytes *b, const char *why);

/* Read them. Return 0, or -EBADMSG where @message is not that. @why has room for ORDER_TEXT_MAX: one printable line. */
int order_get_start(const struct bytes *message, struct order_start *start);
int order_get(const struct bytes *message, enum order order, u64 *numbers, u32 n);
int order_get_refused(const struct bytes *message, char *why);

/* Text as part of a message; reading puts its end behind it, and what no terminal should see becomes '?'. */
void order_put_text(struct bytes *b, const char *text);
int order_get_text(struct bytes_in *in, char *text, size_t size);

#endif
