// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * twice IFACE1 IFACE2 KEYS LAG SEED [RATE]: send KEYS different packets on IFACE1, and as many copies on
 * IFACE2, each of one of the LAG packets that were sent on IFACE1 before the latest 4096: so some have no copy
 * and some have several. RATE packets a second (all: as fast as they go). Prints how many the kernel took on
 * each. What a filter on both takes for a copy on the first, or lets pass on the second, is wrong.
 */
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/common/numbered.h"
#include "tests/common/test.h"

#define BATCH 32
#define LATEST 4096 /* a copy that overtakes its first would be the first */

struct port {
	int sock;
	struct mmsghdr messages[BATCH];
	struct iovec parts[BATCH];
	u8 frames[BATCH][NUMBERED_BYTES];
	unsigned long sent;
};

static int port_open(struct port *port, const char *interface)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };

	port->sock = socket(AF_PACKET, SOCK_RAW, 0);
	at.sll_ifindex = if_nametoindex(interface);
	if (port->sock < 0 || !at.sll_ifindex ||
	    bind(port->sock, (struct sockaddr *)&at, sizeof(at))) {
		perror(interface);
		return -1;
	}
	for (u32 i = 0; i < BATCH; i++) {
		port->parts[i] = (struct iovec){ port->frames[i], NUMBERED_BYTES };
		port->messages[i].msg_hdr =
			(struct msghdr){ .msg_iov = &port->parts[i], .msg_iovlen = 1 };
	}
	return 0;
}

static int port_flush(struct port *port)
{
	for (int done = 0; done < BATCH;) {
		int n = sendmmsg(port->sock, port->messages + done, BATCH - done, 0);

		if (n < 0) {
			perror("twice: sendmmsg");
			return -1;
		}
		done += n;
	}
	port->sent += BATCH;
	return 0;
}

/* Each number once, in an order that is not theirs. */
static u32 key_of(u32 number)
{
	return number * 0x9e3779b1u;
}

static void pace(struct timespec *next, double rate)
{
	if (!(rate > 0))
		return;
	next->tv_nsec += 2 * BATCH * 1e9 / rate;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static int send_all(struct port *first, struct port *second, u32 keys, u32 lag, u64 seed,
		    double rate)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (u32 sent = 0; sent < keys; sent += BATCH) {
		u32 old = sent > LATEST ? sent - LATEST : 0, reach = old < lag ? old : lag;

		for (u32 i = 0; i < BATCH; i++) {
			numbered_make(first->frames[i], key_of(sent + i));
			numbered_make(second->frames[i],
				      key_of(old - 1 - random_below(&seed, reach ?: 1)));
		}
		if (port_flush(first) || (reach && port_flush(second)))
			return 1;
		pace(&next, rate);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct port first, second;
	int code;

	if (argc < 6) {
		fprintf(stderr, "usage: twice IFACE1 IFACE2 KEYS LAG SEED [RATE]\n");
		return 2;
	}
	if (port_open(&first, argv[1]) || port_open(&second, argv[2]))
		return 1;
	code = send_all(&first, &second, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
			strtoull(argv[5], NULL, 10), argc > 6 ? atof(argv[6]) : 0);
	printf("%lu %lu\n", first.sent, second.sent);
	return code;
}
