/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between hosts in joint detection, cut into parts that a server takes. Who asks sends its message
 * again until the answer is there, whole; who has answered sends its answer again when it is asked
 * again. So parts may be lost, come twice, in any order, or too late.
 */
#ifndef USER_JOINT_PARTS_H
#define USER_JOINT_PARTS_H

#include <xdd/event.h>

#include "user/joint/bytes.h"

#define PART_BYTES (256u << 10)
#define PARTS_MAX 4096u
#define PART_AGAIN_NS XDD_SECOND_NS /* after so long without a word it is sent again */
#define PART_FULL_NS 5000000ull	    /* ... and so soon where there was no room for it */

/* A step that is no question: whoever gets it forgets the session. */
#define STEP_STOP 0xffffffffu

/* Nor is this, which says that the one who asks is there, so often; and so does the one who is asked, in answer. */
#define STEP_BEAT 0xfffffffeu
#define PART_BEAT_NS (2 * XDD_SECOND_NS)

struct part {
	u64 session;	   /* of the one who asks: when it began, ns since 1970 */
	u32 step;	   /* of the session, from 0 on: a question and its answer have the same */
	u32 number, parts; /* which of how many */
	const u8 *at;	   /* all but the last have PART_BYTES */
	size_t n;
};

/* Hand a part to member @whom. Returns 0; or a negative errno where it cannot be taken now. */
typedef int part_emit(void *to, u32 whom, const struct part *part);

/* A message on its way. All zeroes is empty; bytes_free() of the message is due. */
struct outbox {
	struct bytes message;
	u64 session, sent_ns; /* sent_ns: when its last part was taken */
	u32 step, next;	      /* next: the part to be sent */
};

/* Send out->message as @step of @session, from the start. */
void outbox_begin(struct outbox *out, u64 session, u32 step);

/* Send what @emit takes. Returns whether all has been sent. */
bool outbox_send(struct outbox *out, part_emit *emit, void *to, u32 whom, u64 now_ns);

/* A message that is due. All zeroes expects nothing; inbox_free() is due. */
struct inbox {
	struct bytes message;
	u64 session;
	u32 step, parts, got; /* parts: 0: none has come */
	u64 *have;	      /* a bit for each part */
};

void inbox_expect(struct inbox *in, u64 session, u32 step);
void inbox_free(struct inbox *in);

/* Returns 1: @part was the last that was missing, in->message is whole; 0: it was not, or is known, or is not
 * due; -EBADMSG: it cannot be; -ENOMEM.
 */
int inbox_take(struct inbox *in, const struct part *part);

#endif
