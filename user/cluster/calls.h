/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls (sites/call.h) over NATS: a subject for each process, one for all, questions that are sent again until
 * they are answered. Subjects, which agents do not listen to:
 *
 *   xdd.GROUP.SERVICE           HELLO, HERE, BYE
 *   xdd.GROUP.SERVICE.NUMBER    what is for one process, whose number has 16 hexadecimal digits
 */
#ifndef USER_CLUSTER_CALLS_H
#define USER_CLUSTER_CALLS_H

#include "user/sites/call.h"

struct options;
struct calls;

/* After so long without a server nobody is waited for any more. */
#define CALLS_DOWN_NS (10 * XDD_SECOND_NS)

/* How long others may take to say that they are there, and how often they are asked. */
#define CALLS_ASKING_NS (1000 * MILLISECOND_NS)
#define CALLS_ASK_NS (250 * MILLISECOND_NS)

struct calls_setup {
	const struct options *o; /* --nats, --group, --secret-file, ... */
	const char *who;	 /* "site": in front of messages */
	const char *service;	 /* "sites": a word in subjects, and of the key */
	bool quiet; /* when the servers come and go: another connection of this process says so */
};

enum calls_kind { CALLS_UP, CALLS_DOWN, CALLS_HELLO, CALLS_HERE, CALLS_BYE, CALLS_MESSAGE };

struct calls_event {
	enum calls_kind kind;
	u64 from;     /* HELLO, HERE, BYE */
	u64 sequence; /* HELLO */
	bool answers; /* HERE: a HELLO of the last seconds of this process: it is not what a dead one once said */
	struct call_here here; /* HERE */
	const u8 *
		message; /* MESSAGE: for this process, not opened: anything; until the next event */
	size_t size;
};

struct calls_counts {
	u64 refused; /* of HELLO, HERE and BYE: damaged, or who sent it has not the secret */
	u64 unsent, overrun;
};

/*
 * Connect, in the background and for ever. Signals that the caller waits for must be blocked until it returns.
 * Returns 0 and *@calls; or with one line in @err -EINVAL for what @setup->o lacks, or another negative errno.
 */
int calls_open(const struct calls_setup *setup, struct calls **calls, char *err, size_t err_size);
void calls_close(struct calls *c); /* NULL is ignored */

u64 calls_number(const struct calls *c); /* of this process */

/* The key of calls between those with @fingerprint; see call_key(). */
struct wire_key calls_key(const struct calls *c, u64 fingerprint);

/* To wait for: readable while calls_next() has something. */
int calls_fd(const struct calls *c);
bool calls_up(const struct calls *c);
struct calls_counts calls_counts(const struct calls *c);

/* Take the next thing that came, without waiting. Returns whether there was one. */
bool calls_next(struct calls *c, struct calls_event *event);

/* Wait until calls_next() may have something, or @until_ns; a signal ends it, too. */
void calls_wait(const struct calls *c, u64 until_ns);

/* Whether @other, process @from, stays if it and the process that says @mine cannot both be. */
bool calls_stays(const struct calls *c, const struct call_here *mine, const struct call_here *other,
		 u64 from);

/* Say to all: HELLO, HERE (with @here; in answer to @hello, or NULL) or BYE. What cannot be sent is lost. */
void calls_say(struct calls *c, enum call_kind kind, const struct call_here *here,
	       const struct calls_event *hello);

/* Send the sealed @message to process @to. What cannot be sent is lost. */
void calls_send(struct calls *c, u64 to, const u8 *message, size_t size);

/* Tell, once of each sender, that this message is refused; calls_next() does so of what was said to all. */
void calls_refuse(struct calls *c, const u8 *message, size_t size);

/* A question under way. */
struct calls_question {
	u64 to;
	u8 *message; /* sealed, of @size bytes; 0: there is none */
	size_t size;
	u64 asked_ns, again_ns;
	u64 first_ns; /* when it was asked; asked_ns: or when its answer was last said to be on its way */
	u64 repeats; /* times that one was sent again, so far */
};

/* Send @q, of which to, message and size are set. */
void calls_ask(struct calls *c, struct calls_question *q, u64 now_ns);

/* Who was asked says that the answer to @q will come: it has time again, but not for ever. */
void calls_heard(struct calls_question *q, u64 timeout_ns, u64 now_ns);

/*
 * Send @q again if that is due: four times in @timeout_ns. The time in which there was no server, or in which others
 * come back to it, does not count, nor does that by which this is called later than it said: the caller was held up.
 * Returns when to come back, or 0: there is no answer.
 */
u64 calls_press(struct calls *c, struct calls_question *q, u64 timeout_ns, u64 now_ns);

#endif
