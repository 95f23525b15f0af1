/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of a watch set as people name them, and as captures hold them.
 *
 *   --key src, dst       ADDRESS
 *   --key srcdst         ADDRESS,ADDRESS
 *   --key flow, biflow   PROTOCOL,ADDRESS,PORT,ADDRESS,PORT; of ICMP type and echo identifier, of what
 *                        has no ports 0
 *   any                  a frame's bytes in hexadecimal, from its Ethernet header on, as events --json
 *                        shows them: the key is that of this packet
 *
 * An ADDRESS such as ::ffff:192.0.2.1 is the IPv4 address in it, which is what packets have.
 */
#ifndef USER_WATCH_KEYS_H
#define USER_WATCH_KEYS_H

#include "user/watch/set.h"

struct watch_keys {
	struct xdd_fixed fixed; /* of the instance */
	struct xdd_secret secret;
	struct watch_key *key;
	size_t n, room;
	u64 skipped; /* frames of captures that have no key */
};

/* Keys for @in. Returns 0, and then watch_keys_close() is due, or a negative errno. */
int watch_keys_open(struct watch_keys *keys, const struct instance *in);
void watch_keys_close(struct watch_keys *keys);

/* The key that @text names, of origin @origin. Returns 0; -EINVAL with a line in @err, or -ENOMEM. */
int watch_keys_parse(struct watch_keys *keys, const char *text, u64 origin, char *err,
		     size_t err_size);

/*
 * Those of the file @path: a capture, or lines with a key each; empty ones and what follows a # are
 * no keys. Returns 0, or a negative errno with a line in @err.
 */
int watch_keys_capture(struct watch_keys *keys, const char *path, char *err, size_t err_size);
int watch_keys_lines(struct watch_keys *keys, const char *path, char *err, size_t err_size);

/* Each key once, in the order in which they first came. */
void watch_keys_unique(struct watch_keys *keys);

#endif
