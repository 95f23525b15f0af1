/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the hosts of a group. All numbers are little-endian:
 *
 *   byte  bytes
 *      0      4  magic "XDDR"
 *      4      1  major version, 1: another one is not read
 *      5      1  minor version, 0: a higher one may have a longer header, and payload behind what
 *                is known of AUDIT_*; what is not known of it is skipped
 *      6      2  bytes of this header, 120 or more
 *      8      1  type, see WIRE_TYPES
 *      9      1  flags, 0; unknown ones are ignored
 *     10      2  hashes: positions of a key in the filter
 *     12      4  shift: the filter has 2^shift bits
 *     16      8  fingerprint of what must be alike on all hosts of the group
 *     24      8  epoch: the sender's start, later ones are greater (CLOCK_REALTIME, ns)
 *     32      8  order: number of this message in the epoch, from 1 on
 *     40      8  seq: version of the filter that the others have once they know this message; each
 *                FULL and DELTA makes the next one
 *     48      4  part, from 0 on, of
 *     52      4  parts that the message consists of
 *     56      8  first bit of this part, a multiple of 64
 *     64      8  bits of this part, a multiple of 64
 *     72      8  keys in the filter
 *     80      8  window, ns
 *     88      8  time of sending, CLOCK_REALTIME, ns
 *     96      8  heartbeat: the sender speaks at least so often, ns
 *    104      4  predicted rate of false positives of the replica that the others had so far, in 1e-9
 *    108      4  ... of false negatives, of any key (theorem 3 of zhu-jiang-2006)
 *    112      4  ... of false negatives, of keys that the sender has
 *    116      4  bytes of payload, at most 512 KiB
 *    120         payload: FULL: the bits of the part as delta.h writes them; DELTA: those that have
 *                changed; AUDIT_ASK, AUDIT_ANSWER: see below; JOINT_ASK, JOINT_ANSWER: 8 bytes
 *                session, and a part of a message of joint/orders.h whose step is seq; WATCH_*: see
 *                watch_wire.h; others: empty
 *                tag, 8 bytes: SipHash-2-4 of all before it, under the sender's key
 *
 * A sender's key is SipHash-2-4-128 of its name under the group's key, so that what one host has said
 * cannot be said again in the name of another. A message that is damaged, cut, forged or of another
 * group is the same: its tag is wrong.
 */
#ifndef USER_CLUSTER_WIRE_H
#define USER_CLUSTER_WIRE_H

#include <stddef.h>

#include <xdd/types.h>

#define WIRE_MAGIC 0x52444458
/* tests/cluster/versions.sh builds others. */
#ifndef WIRE_MAJOR
#define WIRE_MAJOR 1
#define WIRE_MINOR 0
#endif
#define WIRE_HEADER 120
#define WIRE_TAG 8
#define WIRE_PAYLOAD_MAX (512u << 10)
#define WIRE_MAX \
	(WIRE_HEADER + WIRE_PAYLOAD_MAX + WIRE_TAG) /* bytes of a message as written here */
#define WIRE_NAME 64				    /* bytes of a host's name, its end included */
#define WIRE_SHIFT_MIN 10			    /* a filter has 2^10 to 2^32 bits */
#define WIRE_SHIFT_MAX 32
#define WIRE_PARTS_MAX 4096
#define WIRE_PPB 1e9 /* rates are in units of 1e-9 */

/* X(name, number, word in subjects and statistics). Numbers are never used again. */
#define WIRE_TYPES(X)                      \
	X(FULL, 1, "full")                 \
	X(DELTA, 2, "delta")               \
	X(HEARTBEAT, 3, "heartbeat")       \
	X(WANT, 4, "want")                 \
	X(BYE, 5, "bye")                   \
	X(AUDIT_ASK, 6, "audit_ask")       \
	X(AUDIT_ANSWER, 7, "audit_answer") \
	X(JOINT_ASK, 8, "joint_ask")       \
	X(JOINT_ANSWER, 9, "joint_answer") \
	X(WATCH_FULL, 10, "watch_full")    \
	X(WATCH_DELTA, 11, "watch_delta")  \
	X(WATCH_BEAT, 12, "watch_beat")    \
	X(WATCH_WANT, 13, "watch_want")

#define WIRE_TYPE(name, number, word) WIRE_##name = number,
enum wire_type { WIRE_TYPES(WIRE_TYPE) WIRE_TYPE_MAX };

extern const char *const wire_names[WIRE_TYPE_MAX]; /* by type; [0] is NULL */

struct wire_head {
	u32 magic;
	u8 major, minor;
	u16 header_bytes;
	u8 type, flags;
	u16 hashes;
	u32 shift;
	u64 fingerprint, epoch, order, seq;
	u32 part, parts;
	u64 first, bits;
	u64 keys, window_ns, time_ns, heartbeat_ns;
	u32 fpr_ppb, fnr_ppb, member_ppb;
	u32 payload_bytes;
};
XDD_ASSERT(sizeof(struct wire_head) == WIRE_HEADER, "the header as it is sent");

struct wire_key {
	u64 sip[2];
};

/* Who sends. One for all messages of a host: @order counts them. */
struct wire_self {
	struct wire_key key; /* wire_key_of() its name */
	u64 fingerprint, epoch, order;
};

/* What the clocks say: CLOCK_MONOTONIC and CLOCK_REALTIME, ns. */
struct wire_time {
	u64 mono_ns, wall_ns;
};

struct xdd_secret;

/* The group's key for messages of one kind, which @label tells, from the secret that its hosts were loaded with. */
struct wire_key wire_group_key(const struct xdd_secret *secret, const char *label);

/* The key of the host @name (1 to WIRE_NAME - 1 bytes) in a group. */
struct wire_key wire_key_of(const struct wire_key *group, const char *name);

/* SipHash-2-4 of the @n bytes at @at: what a message that consists of them ends with. */
u64 wire_tag(const struct wire_key *key, const u8 *at, size_t n);

/*
 * Make a message of @message, which has @head->payload_bytes of payload at WIRE_HEADER and WIRE_TAG
 * bytes of room behind it. Of @head the caller fills type and what the type needs; magic, versions,
 * fingerprint, epoch and order are written from @self. Returns the message's bytes.
 */
size_t wire_seal(struct wire_self *self, struct wire_head *head, u8 *message);

/*
 * Read the header of the @size bytes at @message, which may be anything, and where its payload is.
 * Returns 0; -EBADMSG: no such message, or damaged, or not by the holder of @key; -EPROTONOSUPPORT:
 * another major version, not looked at; -EOPNOTSUPP: an unknown type. After 0, type, shift, bit range
 * and parts of FULL and DELTA, and the length of the payload, are in range.
 */
int wire_open(const struct wire_key *key, const u8 *message, size_t size, struct wire_head *head,
	      const u8 **payload);

/*
 * AUDIT_ASK: had you seen these keys? A 4-byte number, then 16 bytes each: print of the key, and how
 * long before the time of sending, in ns.
 * AUDIT_ANSWER: 8 bytes epoch and 8 bytes order of the question, a 4-byte number, then 2 bits each, from
 * the low end of the first byte on: 0 no, 1 yes, 2 unknown.
 */
#define WIRE_ASK_MAX 4096 /* keys of a question */

enum wire_answer { WIRE_NO, WIRE_YES, WIRE_UNKNOWN };

struct wire_ask {
	u64 print, age_ns;
};

struct wire_answers {
	u64 epoch, order; /* of the question */
	u32 n;
	u8 answer[WIRE_ASK_MAX]; /* enum wire_answer */
};

/* Write to and read from a payload. Put returns its bytes; @n and answers->n are at most
 * WIRE_ASK_MAX. Get returns the number of keys, or -EBADMSG; @ask has room for WIRE_ASK_MAX.
 */
size_t wire_put_asks(u8 *payload, const struct wire_ask *ask, u32 n);
int wire_get_asks(const u8 *payload, size_t size, struct wire_ask *ask);
size_t wire_put_answers(u8 *payload, const struct wire_answers *answers);
int wire_get_answers(const u8 *payload, size_t size, struct wire_answers *answers);

#endif
