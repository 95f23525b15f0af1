/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls: a question to one process of a group and its answer, over a bus that may lose, delay or repeat both.
 * Numbers are little-endian:
 *
 *   byte  bytes
 *      0      4  magic "XDDC"
 *      4      1  version, 3: another one is not read
 *      5      1  kind, see enum call_kind
 *      6      2  0
 *      8      8  from: number of the process that sends, which it drew at its start
 *     16      8  to: number of who is meant; 0: all
 *     24      8  sequence: of questions and HELLOs, each is greater than the sender's before; of an answer, its question's
 *     32         payload
 *                tag, 8 bytes: SipHash-2-4 of all before it, under the key
 *
 * Numbers are never used again, so that what was meant for a process before it was started anew reaches nobody:
 * they are the incarnations of who serves.
 */
#ifndef USER_SITES_CALL_H
#define USER_SITES_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "user/cluster/wire.h"

#define CALL_HEADER 32
#define CALL_TAG WIRE_TAG
#define CALL_MAX (128u << 10) /* bytes of a message */
#define CALL_TEXT 160	      /* bytes of a text, its end included */

/* CALL_REFUSED answers a question, in words. HELLO asks who is there; HERE says it, to all, and to whom it answers; BYE:
 * it ends. WAIT answers a question that came again: its answer depends on somebody else's, and will come.
 */
enum call_kind {
	CALL_QUESTION,
	CALL_ANSWER,
	CALL_REFUSED,
	CALL_HELLO,
	CALL_HERE,
	CALL_BYE,
	CALL_WAIT,
	CALL_KIND_MAX
};

struct call_head {
	u8 kind; /* enum call_kind */
	u64 from, to, sequence;
};

/* The key of calls that only those with this @fingerprint, of what they must have alike, can read. */
struct wire_key call_key(const struct wire_key *group, u64 fingerprint);

/* Make a message of @message, whose @n bytes of payload are at CALL_HEADER and have room for CALL_TAG bytes behind
 * them. Returns the message's bytes.
 */
size_t call_seal(const struct wire_key *key, const struct call_head *head, u8 *message, size_t n);

/* Read the header of the @size bytes at @message, which may be anything, and where its payload of *@n bytes is. Returns
 * 0; -EBADMSG: no such message, or damaged, or not by a holder of @key; -EPROTONOSUPPORT: another version.
 */
int call_open(const struct wire_key *key, const u8 *message, size_t size, struct call_head *head,
	      const u8 **payload, size_t *n);

/* Who says that it sent this, before call_open() tells whether it did; 0: no such message. */
u64 call_from(const u8 *message, size_t size);

/* Who is there: what HERE says. */
struct call_here {
	u64 fingerprint; /* of what must be alike */
	u64 start_ns;	 /* CLOCK_REALTIME at its start */
	u32 first, n;	 /* what it serves, such as slices ... */
	u32 of;		 /* ... of so many; n is at least 1, first + n at most this */
	bool serves;	 /* false: it is about to */
	char name[WIRE_NAME];
	char about[CALL_TEXT];	/* what has the fingerprint, in words */
	char parent[WIRE_NAME]; /* of a node of a tree: whom it asks; "": nobody */
};

#define CALL_HERE_BYTES (8 + 8 + 4 + 4 + 4 + 1 + WIRE_NAME + CALL_TEXT)

#define CALL_HERE_MOST (CALL_HERE_BYTES + WIRE_NAME) /* with a parent */

/* Write @here to @payload, of CALL_HERE_MOST; returns its bytes. Read it, with texts of printable characters; returns 0 or
 * -EBADMSG.
 */
size_t call_put_here(const struct call_here *here, u8 *payload);
int call_get_here(const u8 *payload, size_t n, struct call_here *here);

/* What of @theirs, an `about`, is otherwise in @ours, into @text: "X; here: Y". */
#define CALL_DIFFERS (2 * CALL_TEXT + 16)
void call_differs(const char *theirs, const char *ours, char text[CALL_DIFFERS]);

#endif
