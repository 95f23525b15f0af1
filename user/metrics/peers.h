/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other hosts of an instance that holds their replicas (xdd/replica.h): what is known of them, and what
 * they had seen.
 */
#ifndef USER_METRICS_PEERS_H
#define USER_METRICS_PEERS_H

#include <jansson.h>
#include <stdbool.h>

#include "xdd/replica.h"

struct instance;

struct peer_view {
	u32 number;
	bool believed; /* now */
	struct xdd_peer about;
	struct xdd_peer_hits hits; /* on all CPUs */
};

struct peers {
	u32 n; /* that are known */
	u32 believed;
	u64 memory_bytes; /* of the replicas; 0: the instance holds none */
	u64 refused; /* messages that are damaged, or not by who they say, since the agent began */
	u64 twin_ns; /* when another host last spoke in this host's name; 0: never */
	u64 hits;    /* packets that one of them had seen */
	struct peer_view peer[XDD_MAX_PEERS];
};

extern const char *const peer_state_names[]; /* "joining", ... by enum xdd_peer_state */

/* Without --peers @peers is all zero. Returns 0 or a negative errno. */
int peers_read(const struct instance *in, struct peers *peers);

/* When the peer's replica was last made up to date, in seconds; NAN: never. */
double peer_age_s(const struct peer_view *peer);

/* That one of the believed replicas says yes to a key that is new everywhere, by what the peers predict (eq. 14 of
 * zhu-jiang-2006, with a rate for each): such a packet is lost. 0 if packets are not dropped for that.
 */
double peers_fpr(const struct instance *in, const struct peers *peers);

/* Shares of what was asked and measured; NAN: not known. */
double peer_fpr_measured(const struct peer_view *peer);
double peer_fnr_measured(const struct peer_view *peer);

/* For `status --json`: the array `peers`, the object `replicas` or null. NULL: no memory. */
json_t *peers_json(const struct peers *peers);
json_t *peers_replicas_json(const struct instance *in, const struct peers *peers);

/* For a person, on stdout. */
void peers_print(const struct instance *in, const struct peers *peers);

/* "hostb.eth0 live, 20000 keys, 12 ms old, 0.31 % ones, 120 hits". Returns @text. */
#define PEER_TEXT_MAX 224
const char *peer_text(const struct peer_view *peer, char text[PEER_TEXT_MAX]);

/* Whether it is not believed since its window is longer than that of @in. */
bool peer_window_is_longer(const struct instance *in, const struct peer_view *peer);

/* The name of peer number @number. Returns @name, "peer 3" where it has none. */
const char *peer_name(const struct instance *in, u32 number, char name[XDD_PEER_NAME]);

#endif
