/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What branch*.c share. */
#ifndef USER_CLUSTER_BRANCH_WORK_H
#define USER_CLUSTER_BRANCH_WORK_H

#include "user/cluster/branch.h"
#include "user/cluster/remote.h"
#include "user/cluster/strangers.h"
#include "user/options.h"

#define TREES_SERVICE "trees" /* see calls.h */

/* A child, or the parent. */
struct branch_peer {
	u64 id; /* its number in calls; 0: none, or not found yet */
	u64 heard_ns;
	char name[WIRE_NAME]; /* "": a producer, or not known */
	bool failed;
	struct calls_question question;
};

/* Who is who: the last that were heard. */
#define BRANCH_NAMES (2 * NODE_CHILDREN)

struct branch_name {
	u64 id;
	char name[WIRE_NAME];
	u64 since_ns, heard_ns; /* when it first and last answered this process; 0: never */
	/* What it said then: */
	char parent[WIRE_NAME];
	u32 level;
	bool serves;
};

/* X(name, JSON's and the report's word): why there is no parent. */
#define BRANCH_TROUBLES(X)     \
	X(OK, "ok")            \
	X(FAILED, "failed")    \
	X(NOBODY, "not found") \
	X(CLOSED, "not open")  \
	X(CIRCLE, "circle")    \
	X(DEEP, "too deep")

#define BRANCH_TROUBLE(name, word) BRANCH_##name,
enum branch_trouble { BRANCH_TROUBLES(BRANCH_TROUBLE) };

struct branch {
	struct branch_plan plan;
	struct calls *calls;
	struct remote *sites; /* of a root with --sites: they have its filter; or NULL */
	struct wire_key key;
	struct node *node;     /* NULL: the parent has not been found */
	struct call_here here; /* serves: it is open to children */
	u64 serves_ns, ask_ns; /* when it is, if nobody objects; when to ask again who is there */
	u32 above;	       /* level of the parent */
	struct branch_peer peers[NODE_CHILDREN + 1]; /* the last is the parent */
	struct branch_name names[BRANCH_NAMES];
	u32 next_name;
	u64 refused, repeats;	 /* damaged, or forged; questions that were sent again */
	struct strangers others; /* trees that the parent has instead, by fingerprint */
	enum branch_trouble trouble;
	u64 missing_ns; /* since when it has no parent */
	u8 message[SITES_MESSAGE_MAX];
	int rc; /* why it ends, with @err */
	char err[CALL_TEXT * 4];
};

/* branch_peers.c: what processes say of themselves, and messages; send what there is. Returns when to come back. */
void branch_take(struct branch *b, const struct calls_event *event);
u64 branch_send(struct branch *b, u64 now);

/* branch_trouble.c: whether the parent that has just answered is to be asked, as it is not below this node; why there
 * is none, in words; and said once: returns when to come back.
 */
bool branch_fits(const struct branch *b, u64 now);
void branch_trouble_text(const struct branch *b, char *text, size_t size);
u64 branch_tell_trouble(struct branch *b, u64 now);

/* The parent is there, or there again: process @id. */
void branch_meet(struct branch *b, u64 id);

#endif
