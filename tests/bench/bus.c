// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bus URL BYTES RECEIVERS [SECONDS]: how many messages of BYTES one sender gets through a NATS server to each of so
 * many receivers, all on this machine, as fast as it goes: what plan cluster takes for a server's limits.
 * bus take SHIFT: what a host's part takes of a push of 2^SHIFT bits in which 1 % changed: to find and encode that,
 * and to decode and apply it to the replicas of 64 peers.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/accessors.h"
#include "user/clock.h"
#include "user/cluster/bus.h"
#include "user/cluster/columns.h"
#include "user/cluster/delta.h"
#include "user/cluster/update.h"

#define SUBJECT "xdd.bench.a"
#define RECEIVERS_MAX 64
#define RUNS 5

static struct bus *open_bus(const char *url, const char *listen)
{
	struct bus_where where = { .url = url,
				   .client = "bench",
				   .store = { "bench" },
				   .kept = { { "xdd.bench.kept" } },
				   .listen = { listen } };
	struct bus_event event;
	struct bus *bus;
	char err[256];

	if (bus_open(&where, &bus, err, sizeof(err))) {
		fprintf(stderr, "bus: %s\n", err);
		exit(1);
	}
	do {
		struct pollfd fd = { .fd = bus_fd(bus), .events = POLLIN };

		poll(&fd, 1, 5000);
	} while (!bus_next(bus, &event) || event.kind != BUS_UP);
	return bus;
}

/* Count for @seconds; what it comes to goes to @to. */
static void receive(const char *url, double seconds, int ready, int to)
{
	struct bus *bus = open_bus(url, SUBJECT);
	struct bus_event event;
	u64 end = 0, n = 0;

	if (write(ready, "", 1) != 1)
		_exit(1);
	while (!end || now_ns() < end) {
		struct pollfd fd = { .fd = bus_fd(bus), .events = POLLIN };

		poll(&fd, 1, 100);
		while (bus_next(bus, &event))
			if (event.kind == BUS_MESSAGE && !n++)
				end = now_ns() + seconds * 1e9;
	}
	if (write(to, &n, sizeof(n)) != sizeof(n))
		_exit(1);
	bus_close(bus);
	_exit(0);
}

static void send_until(struct bus *bus, const u8 *message, size_t bytes, double seconds)
{
	u64 end = now_ns() + seconds * 1e9;

	while (now_ns() < end)
		for (u32 i = 0; i < 64; i++)
			if (bus_publish(bus, SUBJECT, BUS_KEEP, message, bytes))
				usleep(50);
}

static int through(const char *url, size_t bytes, u32 receivers, double seconds)
{
	u8 *message = calloc(1, bytes);
	u64 n, sum = 0;
	int ready[2], to[2];
	char byte;

	if (!message || pipe(ready) || pipe(to))
		return 1;
	for (u32 i = 0; i < receivers; i++)
		if (!fork())
			receive(url, seconds, ready[1], to[1]);
	for (u32 i = 0; i < receivers; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	send_until(open_bus(url, NULL), message, bytes, seconds + 1);
	for (u32 i = 0; i < receivers && read(to[0], &n, sizeof(n)) == sizeof(n); i++)
		sum += n;
	printf("  %7zu bytes to %2u: %9.0f messages a second in, %9.0f out, %7.1f MB/s out\n",
	       bytes, receivers, sum / seconds / receivers, sum / seconds,
	       sum / seconds * bytes * 1e-6);
	free(message);
	return 0;
}

static int take(u32 shift)
{
	u64 n = 1ull << shift, words = n / 64, send = ~0ull, apply = ~0ull, start, spent;
	u64 *home = calloc(words, 8), *sent = calloc(words, 8), *all = calloc(n, 8);
	struct xdd_peer_gate gate = { 0 };
	struct staleness about;
	struct columns columns;
	u8 *message = malloc(delta_room(n));
	size_t bytes = 0;

	if (!home || !sent || !all || !message)
		return 1;
	columns_over(&columns, all, &gate, 64, shift);
	for (u32 run = 0; run < RUNS; run++) {
		for (u64 i = 0; i < n / 100; i++)
			home[xdd_mix64(run * n + i) % n / 64] ^= 1ull << xdd_mix64(~i) % 64;
		start = now_ns();
		update_compare(&about, home, sent, n);
		for (u64 i = 0; i < words; i++)
			sent[i] ^= home[i];
		bytes = delta_encode(sent, n, message);
		spent = now_ns() - start;
		send = spent < send ? spent : send;
		start = now_ns();
		if (delta_decode(message, bytes, sent, n))
			return 1;
		columns_flip(&columns, 3, sent, shift);
		spent = now_ns() - start;
		apply = spent < apply ? spent : apply;
		memcpy(sent, home, words * 8);
	}
	printf("  2^%u bits, 1 %% changed: %zu bytes, %.2f ms to make, %.2f ms to apply: %.2f and "
	       "%.2f ns a bit\n",
	       shift, bytes, send * 1e-6, apply * 1e-6, (double)send / n, (double)apply / n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "take"))
		return take(strtoul(argv[2], NULL, 10));
	if (argc < 4 || strtoul(argv[3], NULL, 10) - 1 >= RECEIVERS_MAX) {
		fprintf(stderr,
			"usage: bus URL BYTES RECEIVERS [SECONDS]\n       bus take SHIFT\n");
		return 2;
	}
	return through(argv[1], strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10),
		       argc > 4 ? strtod(argv[4], NULL) : 3);
}
