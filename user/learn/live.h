/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that come in by an interface, looked at beside everything else that takes them: a packet
 * socket (AF_PACKET), which drops nothing and ends its promiscuous mode with itself.
 */
#ifndef USER_LEARN_LIVE_H
#define USER_LEARN_LIVE_H

#include <stddef.h>

#include <xdd/packet.h>

struct pcap;

struct live {
	struct pcap *capture;
	u32 link; /* as in xdd_link */
};

/* Watch interface @name of the present network namespace. Returns 0, or a negative errno with a
 * line in @err.
 */
int live_open(struct live *live, const char *name, char *err, size_t err_size);

/*
 * The next frame, valid until the next call: waits at most @wait_ms, or until a signal. Returns 1
 * with *@packet and *@time_ns; 0 where none came; or a negative errno with a line in @err.
 */
int live_next(struct live *live, int wait_ms, struct xdd_packet *packet, u64 *time_ns, char *err,
	      size_t err_size);

/* Frames that were lost for want of room in its buffer. */
u64 live_missed(const struct live *live);

void live_close(struct live *live);

#endif
